package daemon

import (
	"slices"
	"strings"
	"time"
)

// Phase is what a daemon of an object does.
type Phase string

// The phases.
const (
	// Waiting: the daemon will be run when it is due, or when another pass comes.
	Waiting Phase = "waiting"
	// Running: the daemon runs and wasn't stopped.
	Running Phase = "running"
	// Stopping: the daemon was stopped and hasn't returned yet.
	Stopping Phase = "stopping"
	// Left: the daemon was abandoned and hasn't returned yet.
	Left Phase = "left"
	// Done: the daemon has returned nil by itself, and isn't run again.
	Done Phase = "done"
	// Broken: the daemon isn't run again, because of its error or its limits.
	Broken Phase = "broken"
)

// Status is the state of one daemon of an object.
type Status struct {
	ID    string
	Phase Phase
	// Failures is the number of failures in a row, and Err the last error, also while the daemon runs again.
	Failures int
	Err      error
	// Due is when a daemon that waits is run, zero if that is not before another pass.
	Due time.Time
	// Stop is why a daemon is stopping or was left, and Until is when it is abandoned, or was.
	Stop  Stop
	Until time.Time
}

// Standing is how the daemons of an object stand: those that wait, run or have ended for good, sorted by id. The zero
// value is no daemons.
type Standing []Status

// Active reports whether a daemon runs or is stopping, so that a finalizer has to stay. A daemon that was abandoned
// isn't active.
func (s Standing) Active() bool {
	return slices.ContainsFunc(s, func(d Status) bool { return d.Phase == Running || d.Phase == Stopping })
}

// Until returns when the last of the daemons that are stopping is abandoned, and false if none is stopping. The object
// is brought to reconcile sooner if they return.
func (s Standing) Until() (last time.Time, stopping bool) {
	for _, d := range s {
		if d.Phase == Stopping && d.Until.After(last) {
			last, stopping = d.Until, true
		}
	}
	return last, stopping
}

// Due returns when the first of the daemons that wait is to be run, by a pass at that time, and false if none waits for
// a time.
func (s Standing) Due() (first time.Time, waits bool) {
	for _, d := range s {
		if d.Phase == Waiting && !d.Due.IsZero() && (!waits || d.Due.Before(first)) {
			first, waits = d.Due, true
		}
	}
	return first, waits
}

// standing returns how the daemons of an object stand.
func (o *object[T]) standing() (all Standing) {
	for id, d := range o.daemons {
		all = append(all, d.status(id))
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (d *daemon[T]) status(id string) Status {
	s := Status{ID: id, Failures: d.record.Attempts - d.record.Waited, Err: d.err}
	switch {
	case d.run == nil && !d.record.HasEnded():
		s.Phase, s.Due = Waiting, d.record.Due
	case d.run == nil && d.record.Failed:
		s.Phase = Broken
	case d.run == nil:
		s.Phase, s.Failures = Done, 0
	default:
		s.Phase, s.Stop, s.Until = d.run.phase(), d.run.stop, d.run.until
	}
	return s
}

func (r *run[T]) phase() Phase {
	switch {
	case r.abandoned:
		return Left
	case r.stop != "":
		return Stopping
	}
	return Running
}
