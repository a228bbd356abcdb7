package handlers

import "context"

// Step calls f, unless the step of that name has succeeded for the present cause already: its success is stored at
// once, so that a restart doesn't repeat it. Steps have the limits of their handler. If f fails, the handler is called
// again when f is to be tried again, and Step returns an error until then: return it, or go on with other steps. A
// handler whose steps wait hasn't succeeded, whatever it returns. When a step has failed for good, Step returns an
// error that is permanent. Don't call it concurrently.
func (r *Request[T]) Step(ctx context.Context, name string, f func(ctx context.Context) error) error {
	return r.attempt.Step(ctx, name, f)
}
