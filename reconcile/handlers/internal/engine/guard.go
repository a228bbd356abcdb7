package engine

import (
	"sync/atomic"

	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// panics counts the panics of the filter of a handler.
type panics struct {
	count atomic.Int64
	// logged: the first one was logged. last is the last one.
	logged atomic.Bool
	last   atomic.Pointer[error]
}

// guard returns a filter whose functions don't panic: an object for which one does doesn't pass.
func (n *panics) guard(f selection.Filter) selection.Filter {
	f.Value, f.Old, f.New = n.check(f.Value), n.check(f.Old), n.check(f.New)
	f.Labels, f.Annotations = n.checks(f.Labels), n.checks(f.Annotations)
	if when := f.When; when != nil {
		f.When = func(object map[string]any) bool { return n.ask(func() bool { return when(object) }) }
	}
	return f
}

func (n *panics) check(check selection.Check) selection.Check {
	if check == nil {
		return nil
	}
	return func(value any) bool { return n.ask(func() bool { return check(value) }) }
}

func (n *panics) checks(all map[string]selection.Check) map[string]selection.Check {
	guarded := make(map[string]selection.Check, len(all))
	for key, check := range all {
		guarded[key] = n.check(check)
	}
	return guarded
}

func (n *panics) ask(passes func() bool) bool {
	ok, err := failure.Value(func() (bool, error) { return passes(), nil })
	if err != nil {
		n.last.Store(&err)
		n.count.Add(1)
	}
	return ok && err == nil
}
