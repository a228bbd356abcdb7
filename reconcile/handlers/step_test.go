package handlers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/stretchr/testify/assert"
)

func TestStepLimits(t *testing.T) {
	t.Run("handlers 108: a step has limits of its own, others have those of the handler", testStepLimits)
	t.Run("handlers 108: Errors of a step", testStepErrors)
	t.Run("handlers 108: the time of a step", testStepWithin)
	t.Run("handlers 108: other options are an error", testStepOptions)
}

// steps registers a handler with two steps, of which the first one fails always, and has options.
func steps(j *journal, failing error, own []handlers.Option, opts ...handlers.Option) *handlers.Handlers[Claim] {
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "all", func(ctx context.Context, r *handlers.Request[Claim]) error {
		first := r.Step(ctx, "first", func(context.Context) error { j.write("first"); return failing }, own...)
		second := r.Step(ctx, "second", func(context.Context) error { j.write("second"); return failing })
		return errors.Join(first, second)
	}, append(opts, handlers.Reports("Made"))...)
	return c
}

func testStepLimits(t *testing.T) {
	var j journal
	h := drive(t, steps(&j, errors.New("boom"), []handlers.Option{handlers.MaxAttempts(2), handlers.Backoff(time.Minute), nil}, handlers.MaxAttempts(3), handlers.Backoff(time.Hour)))
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, []string{"first", "second"}, j.taken())
	h.Restart()
	h.Advance(time.Minute)
	assert.Equal(t, []string{"first"}, j.taken(), "it is given up")
	h.Advance(24 * time.Hour)
	assert.Equal(t, []string{"second", "second"}, j.taken())
	message := h.Condition("Claim small", "Made").Message
	assert.Contains(t, message, "step first: given up after 2 attempts: boom")
	assert.Contains(t, message, "step second: boom")
}

func testStepErrors(t *testing.T) {
	var j journal
	h := drive(t, steps(&j, errors.New("boom"), []handlers.Option{handlers.Errors(handlers.Ignore)}, handlers.Errors(handlers.Fail)))
	h.Apply(small)
	h.Advance(24 * time.Hour)
	assert.Equal(t, []string{"first", "second"}, j.taken())
	assert.Equal(t, "step second: boom", h.Condition("Claim small", "Made").Message)
}

func testStepWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c := handlers.New[Claim](claims)
		c.On(handlers.Create, "all", func(ctx context.Context, r *handlers.Request[Claim]) error {
			return r.Step(ctx, "slow", func(ctx context.Context) error {
				<-ctx.Done()
				j.write("%v", context.Cause(ctx))
				return nil
			}, handlers.Within(time.Minute))
		}, handlers.Reports("Made"))
		h := drive(t, c)
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Equal(t, []string{"the step took longer than 1m0s: context deadline exceeded"}, j.taken())
	})
}

func testStepOptions(t *testing.T) {
	for _, row := range []struct {
		opt  handlers.Option
		text string
	}{
		{handlers.MaxAttempts(0), "step first: max attempts 0"},
		{handlers.Label("tier", handlers.Present), "an option isn't one of a step: use MaxAttempts, Within, Backoff and Errors"},
		{handlers.When(func(*Claim) bool { return true }), "an option isn't one of a step"},
		{handlers.Idle(time.Minute), "idle: only for handlers of Timer"},
		{handlers.Reports("Other"), "an option isn't one of a step"},
	} {
		var j journal
		h := drive(t, steps(&j, nil, []handlers.Option{row.opt}, handlers.When(func(*Claim) bool { return true })))
		h.Apply(small)
		h.Advance(time.Minute)
		assert.Contains(t, h.Condition("Claim small", "Made").Message, row.text)
		assert.Equal(t, []string{"second"}, j.taken())
	}
}
