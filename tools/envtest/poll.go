package envtest

import (
	"context"
	"errors"
	"time"
)

// until calls ask at intervals of step until ask returns true or an error, or until ctx has ended. If the end of ctx
// interrupts ask, until returns the context's error.
func until(ctx context.Context, step time.Duration, ask func() (bool, error)) error {
	for {
		done, err := ask()
		if ctx.Err() != nil && (!done || err != nil) {
			return errors.Join(context.Cause(ctx), err)
		}
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(step):
		}
	}
}
