package reconciletest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
)

// Heartbeat names writes that an operator sends again and again on purpose, such as the time at which it was last seen:
// RunUntilSettled takes a reconcile that sends nothing else for one that changed nothing. is reports whether a write is
// such a write, and must not call the harness. The writes are among the Calls as any others. nil is ignored; several
// options add up.
func Heartbeat(is func(call Call) bool) Option {
	return func(o *options) {
		if is != nil {
			o.heartbeats = append(o.heartbeats, is)
		}
	}
}

// beats reports whether a reconcile has written, and nothing but heartbeats.
func (h *Harness) beats(run Run) (beats bool) {
	for _, call := range run.Calls {
		if !call.Write() || call.Action == deploy.Unchanged {
			continue
		}
		beats = slices.ContainsFunc(h.options.heartbeats, func(is func(Call) bool) bool { return is(call) })
		if !beats {
			return false
		}
	}
	return beats
}
