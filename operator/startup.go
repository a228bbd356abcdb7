package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/operkit/operkit/dag"
)

// cleaning is the time after which the contexts of all cleanups end. The process waits a tenth longer for them.
const cleaning = 5 * time.Second

// startup is a function that Startup was given.
type startup struct {
	name  string
	start func(ctx context.Context, p Process) (cleanup func(context.Context) error, err error)
}

// Startup adds a function that the command run calls once in each process, so on every replica: after the function of
// Login, and before the process asks for the leadership and watches anything. Several are called in the order of the
// options. Until the last one has returned, /readyz reports which one is under way, while /healthz is served. An error
// or a panic ends the command, with the name of the startup.
//
// start returns its cleanup, nil for none. The cleanup is called when the reconciles and the watches have ended and the
// leadership is given up, so another replica may have it by then. Only probes, metrics and the heartbeat are still
// served. Several cleanups are called in reverse order. Their contexts end five seconds after the first was called, and
// half a second later the process no longer waits for them. Their errors are only logged. If a later startup fails, the
// cleanups of the earlier ones are called.
//
// ctx ends just before the cleanup is called, and context.Cause then returns why the operator ends: a signal, the loss
// of the leadership, or another error. So start may leave goroutines running that end with ctx. If a signal arrives
// while start runs, ctx ends at once.
//
//	operator.Startup("ledger", func(ctx context.Context, p operator.Process) (func(context.Context) error, error) {
//		connection, err := ledger.Open(ctx, address)
//		if err != nil {
//			return nil, err
//		}
//		return connection.Close, nil
//	})
//
// For what belongs to the leadership use a source.External of a controller.
func Startup(name string, start func(ctx context.Context, p Process) (cleanup func(context.Context) error, err error)) Option {
	return func(o *Operator) { o.startups = append(o.startups, startup{name, start}) }
}

func (s startup) check() error {
	switch {
	case s.name == "":
		return errors.New("a startup has no name: pass a name to Startup")
	case s.start == nil:
		return fmt.Errorf("startup %s: nil function: pass a function to Startup", s.name)
	}
	return nil
}

// startups returns a step for each startup. When ctx ends, a startup that still runs is cancelled.
func (r *runner) startups(ctx context.Context) (all []step) {
	deadline := sync.OnceValue(func() time.Time { return time.Now().Add(cleaning) })
	for _, s := range r.operator.startups {
		all = append(all, step{name: "startup " + s.name, start: func(living context.Context) (func(), error) {
			living, cancel := context.WithCancelCause(living)
			finished := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
			var cleanup func(context.Context) error
			err := guard(func() (err error) {
				cleanup, err = s.start(living, r.about())
				return err
			})
			finished()
			if err != nil {
				logPanic(r.logger, err)
				return nil, fmt.Errorf("startup %s: %w", s.name, err)
			}
			return func() { clean(living, s.name, cleanup, deadline(), r.logger) }, nil
		}})
	}
	return all
}

// clean calls a cleanup, and waits for it until the deadline.
func clean(ctx context.Context, name string, cleanup func(context.Context) error, deadline time.Time, logger *slog.Logger) {
	if cleanup == nil {
		return
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- guard(func() error { return cleanup(ctx) }) }()
	select {
	case err := <-ended:
		if err != nil {
			logPanic(logger, err)
			logger.Error("a cleanup failed", "startup", name, "error", err)
		}
	case <-time.After(time.Until(deadline) + cleaning/10): // it may notice the end of its context
		logger.Error("a cleanup doesn't end: the process exits without waiting for it", "startup", name, "after", cleaning)
	}
}

// guard returns the error of call. If call panics, the error is a *dag.PanicError.
func guard(call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return call()
}

// logPanic logs the stack of a panic.
func logPanic(logger *slog.Logger, err error) {
	if panicked, ok := errors.AsType[*dag.PanicError](err); ok {
		logger.Error("panic", "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
}
