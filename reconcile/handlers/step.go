package handlers

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/request"
)

// Step calls f, unless the step of that name has succeeded for the present cause already: its success is stored at
// once, so that a restart doesn't repeat it. If f fails, the handler is called again when f is to be tried again, and
// Step returns an error until then: return it, or go on with other steps. A handler whose steps wait hasn't succeeded,
// whatever it returns, and has used up no attempt. When a step has failed for good, Step returns an error that is
// permanent. Don't call it concurrently.
//
// A step has the limits of its handler, each counted for itself: MaxAttempts, Within, Backoff and Errors. opts set
// others for this step; any other option is a permanent error. The time of the handler bounds its steps in any case.
func (r *Request[T]) Step(ctx context.Context, name string, f func(ctx context.Context) error, opts ...Option) error {
	limited, err := stepOf(r.attempt.Handler, opts)
	if err != nil {
		return request.Permanent(fmt.Errorf("step %s: %w", name, err))
	}
	return r.attempt.Step(ctx, name, limited, f)
}

// stepOf returns a handler with the limits of a step.
func stepOf(h *engine.Handler, opts []Option) (*engine.Handler, error) {
	if len(opts) == 0 {
		return h, nil
	}
	named := selection.Handler{ID: h.ID, On: h.On}
	s := &settings{Handler: named}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	limits := settings{Handler: named, attempts: s.attempts, within: s.within, backoff: s.backoff, policy: s.policy, errs: s.errs}
	if !reflect.DeepEqual(*s, limits) {
		s.fail("an option isn't one of a step: use MaxAttempts, Within, Backoff and Errors")
	}
	limited := *h
	if s.attempts.set {
		limited.Limits.Attempts = s.attempts.max
	}
	if s.within.set {
		limited.Limits.Within = s.within.d
	}
	if s.backoff.set {
		limited.Backoff = s.backoff.d
	}
	if s.policy.set {
		limited.Policy = s.policy.value
	}
	return &limited, errors.Join(s.errs...)
}
