package handlers

import (
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
)

// Timer registers a handler that is called for each object from time to time: when the object is first seen, and then
// again when interval is over since the end of the last call. With an interval of zero it is called once, or with Idle
// once after each change. It isn't called while the object is being deleted or paused, and never twice at once. After
// an error it is called again earlier or later, see Backoff and Errors; when it has failed for good, it isn't called
// again for the object until the process ends. Timers start no goroutine and store nothing: a restart begins them anew.
func (h *Handlers[T]) Timer(id string, interval time.Duration, f Func[T], opts ...Option) {
	timer := &schedule.Timer{}
	if interval != 0 {
		timer.Interval = &interval
	}
	h.add(selection.Timer, id, f, append([]Option{func(s *settings) { s.timer = timer }}, opts...))
}

// Cron registers a handler that is called for each object at the moments of an expression: minute, hour, day of the
// month, month and day of the week, as in a CronJob, such as "0 3 * * *", or a word such as "@daily" or "@every 36h".
// Times are in UTC unless Zone is set. Moments that were missed, because no operator ran or the object was paused, are
// one call. The time of the last call is stored in the record of the object, which costs a write for each call. An
// object without such a time is called at the first moment after its creation. When the handler has failed for good, it
// is called again at the next moment.
func (h *Handlers[T]) Cron(id, expression string, f Func[T], opts ...Option) {
	h.add(selection.Timer, id, f, append([]Option{func(s *settings) { s.cron = &expression }}, opts...))
}

// Idle makes a Timer wait until nothing of the essence of the object has changed for a time. Changes of the status, and
// own ones, don't count.
func Idle(d time.Duration) Option { return forTimers("idle", func(t *schedule.Timer) { t.Idle = &d }) }

// InitialDelay makes a Timer wait when the process sees the object for the first time, and a Daemon also after each
// stop.
func InitialDelay(d time.Duration) Option {
	return func(s *settings) {
		if s.On != selection.Daemon {
			forTimers("initial delay", func(t *schedule.Timer) { t.InitialDelay = &d })(s)
			return
		}
		if d <= 0 {
			s.fail("initial delay %s: use a positive time", d)
		}
		s.delay = d
	}
}

// Sharp makes a Timer count its interval from the start of a call, not from its end. A call that takes longer than the
// interval skips the times that pass meanwhile.
func Sharp() Option { return forTimers("sharp", func(t *schedule.Timer) { t.Sharp = true }) }

// Zone sets the time zone of a Cron, such as "Europe/Berlin".
func Zone(name string) Option {
	return func(s *settings) {
		if s.cron == nil {
			s.fail("zone: only for handlers of Cron: leave the option out")
		}
		s.zone = name
	}
}

func forTimers(name string, set func(t *schedule.Timer)) Option {
	return func(s *settings) {
		if s.timer == nil {
			s.fail("%s: only for handlers of Timer: leave the option out", name)
			return
		}
		set(s.timer)
	}
}

// rule returns when the handler is called, nil if it isn't called by time.
func (s *settings) rule() schedule.Rule {
	switch {
	case s.timer != nil:
		if err := s.timer.Validate("timer"); err != nil {
			s.errs = append(s.errs, err)
		}
		return s.timer
	case s.cron != nil:
		cron, err := schedule.NewCron("cron", *s.cron, s.zone)
		if err != nil {
			s.errs = append(s.errs, err)
			return nil
		}
		return cron
	}
	return nil
}
