package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/operkit/operkit/reconcile/request"
)

// work reconciles what the queue gives until it is shut down. From the end of run on it only
// empties the queue, which hands out what it has also after its shutdown.
func (e *Engine) work(run, work context.Context) {
	for {
		key, shutdown := e.queue.Get()
		if shutdown {
			return
		}
		e.take(run, work, key)
	}
}

func (e *Engine) take(run, work context.Context, key request.Key) {
	defer e.queue.Done(key)
	if run.Err() == nil {
		e.process(work, key)
	}
}

// quietAttempts is how often in a row a quiet error is kept out of the log.
const quietAttempts = 3

func (e *Engine) process(ctx context.Context, key request.Key) {
	attempt := e.backoff.failures(key)
	e.followers.Begin(key)
	result, err := e.reconcile(ctx, request.Request{Key: key, Attempt: attempt})
	log := e.options.logger.With("object", key.String())
	var panicked *panicError
	if errors.As(err, &panicked) {
		log.Error("reconcile panicked", "value", panicked.value, "stack", string(panicked.stack))
	}
	switch {
	case err == nil:
		e.followers.End(key)
		e.backoff.reset(key)
		if result.RequeueAfter > 0 {
			e.queue.AddAfter(key, result.RequeueAfter)
		}
	case ctx.Err() != nil:
		log.Warn("reconcile was cancelled by the shutdown", "error", err)
	case request.IsPermanent(err):
		log.Error("reconcile failed, waiting for a change", "error", err)
		e.backoff.reset(key)
	default:
		delay := e.backoff.next(key)
		if after, timed := request.RetryTime(err); timed {
			delay = after
		}
		level := slog.LevelWarn
		if request.IsQuiet(err) && attempt < quietAttempts {
			level = slog.LevelDebug
		}
		log.Log(ctx, level, "reconcile failed", "error", err, "attempt", attempt+1, "retry_in", delay)
		e.queue.AddAfter(key, delay)
	}
}

// reconcile calls the reconciler of the key's kind; a panic is that object's error.
func (e *Engine) reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	timeout := e.options.timeout
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("the reconcile took longer than %s: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return e.reconcilers[req.Key.Kind].Reconcile(ctx, req)
}

// panicError is a reconciler's panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap is the value when that is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}
