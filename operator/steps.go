package operator

import (
	"context"
	"slices"
	"sync"
)

// step is a part of the running operator.
type step struct {
	name string
	// inTerm is true if the step has to stop before the replica gives up the leadership.
	inTerm bool
	// start starts the step. When the step is stopped, ctx ends, and then wait is called unless it is nil.
	start func(ctx context.Context) (wait func(), err error)
	stop  func(why error)
}

// steps are the started steps, in order.
type steps []step

// start starts the steps in order, until one fails. It calls begins with the name of each. The end of ctx doesn't stop
// started steps; only stop does.
func (s *steps) start(ctx context.Context, begins func(name string), all ...step) error {
	for _, one := range all {
		begins(one.name)
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		wait, err := one.start(ctx)
		if err != nil {
			cancel(err)
			return err
		}
		var once sync.Once
		one.stop = func(why error) {
			once.Do(func() {
				cancel(why)
				if wait != nil {
					wait()
				}
			})
		}
		*s = append(*s, one)
	}
	return nil
}

// again starts steps again that were stopped with onlyInTerm, instead of those.
func (s *steps) again(ctx context.Context, begins func(name string), all ...step) error {
	*s = slices.DeleteFunc(*s, func(one step) bool { return one.inTerm })
	return s.start(ctx, begins, all...)
}

// stop stops the steps in reverse order, each once; why is the cause with which their contexts end. If onlyInTerm is
// true, it stops only the steps with inTerm.
func (s *steps) stop(onlyInTerm bool, why error) {
	for _, one := range slices.Backward(*s) {
		if one.inTerm || !onlyInTerm {
			one.stop(why)
		}
	}
}
