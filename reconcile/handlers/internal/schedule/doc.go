// Package schedule decides when the timers and crons of an object are called.
//
// A Timer is called again and again, some time after the last call; a Cron at the moments of an expression. Rules has
// those of all handlers, and a State is what is known about one of them for one object. A pass over an object
//
//   - starts the states of the handlers whose filters pass (Start), and suspends the others (State.Suspend);
//   - asks who is due (Rules.Due), and calls these one after another, so that no handler overlaps itself;
//   - begins each attempt (State.Begin), and replaces the state by its outcome (Ended, Failed or Retried);
//   - asks again when the next one is due, and requeues the object for that time.
//
// The package has no clock, starts no goroutines, and writes nothing. Methods don't change a State: they return another
// one. The states of an object with another uid, or of another process, aren't used: all of them begin as zero.
//
// What has to survive a restart is the time at which a cron was called last, State.Called: one time for each cron,
// which changes once for each moment that is called. The caller keeps it on the object, in the write at the end of the
// pass, and gives it to Start. A crash before the write repeats the call, and loses none. Timers keep nothing: a
// restart begins them anew.
//
// A cron without a stored time is called at the first moment after the creation of the object. That includes a cron
// that is new in the operator: it is called at once for each object that is older than the last moment.
//
// Times are those of the wall clock, with the precision of a nanosecond, between the years 1700 and 2250.
package schedule
