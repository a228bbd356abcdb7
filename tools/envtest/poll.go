package envtest

import (
	"context"
	"errors"
	"time"
)

// until asks again and again, each step apart, until the answer is true, an error, or ctx has ended. The error of a
// question that the end of ctx cut short is the context's.
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
