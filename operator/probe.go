package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// probing is how long one call of a probe may take.
const probing = 5 * time.Second

// probe is a function that Alive or Ready was given. It runs at most once at a time, for all who ask.
type probe struct {
	name string
	ask  func(ctx context.Context) (value any, err error)

	mu      sync.Mutex
	running *answer
}

// answer is what a probe returned. It is complete when done is closed.
type answer struct {
	done  chan struct{}
	value any
	err   error
}

// Alive adds a probe to /healthz and to the heartbeat. If it returns an error, a livenessProbe on them restarts the
// process, so use it only for what a restart repairs. Don't check other services in it: while a database is down, a
// restart of all replicas makes matters worse.
//
// The response of /healthz has a line "name: value" for each probe, and "name: ok" for a nil value. If a probe returns
// an error, the response has the code 503, and the error instead of that line. ask is called for each request and each
// heartbeat, on every replica, also on one that waits for the leadership. It never runs twice at a time: a request
// during a call gets the result of that call. Its context ends after five seconds. A panic is an error.
func Alive(name string, ask func(ctx context.Context) (value any, err error)) Option {
	return func(o *Operator) { o.alive = append(o.alive, &probe{name: name, ask: ask}) }
}

// Ready adds a probe to /readyz, with the rules of Alive. While it returns an error, the Pod isn't ready: a rolling
// update waits, and Services send the Pod nothing. The operator reconciles nevertheless.
func Ready(name string, ask func(ctx context.Context) (value any, err error)) Option {
	return func(o *Operator) { o.ready = append(o.ready, &probe{name: name, ask: ask}) }
}

// checkProbes returns what is wrong with the probes of an endpoint.
func checkProbes(probes []*probe) error {
	names := map[string]bool{}
	for _, p := range probes {
		switch {
		case p.name == "":
			return errors.New("a probe has no name: pass a name to Alive and Ready")
		case p.ask == nil:
			return fmt.Errorf("probe %s: nil function: pass a function to Alive and Ready", p.name)
		case names[p.name]:
			return fmt.Errorf("probe %s: there are two of this name: rename one", p.name)
		}
		names[p.name] = true
	}
	return nil
}

// answer calls the probe, or waits for the call that runs already, until ctx ends.
func (p *probe) answer(ctx context.Context, logger *slog.Logger) (any, error) {
	p.mu.Lock()
	if p.running == nil {
		p.running = &answer{done: make(chan struct{})}
		go p.call(context.WithoutCancel(ctx), p.running, logger)
	}
	a := p.running
	p.mu.Unlock()
	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *probe) call(ctx context.Context, a *answer, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	a.err = guard(func() (err error) {
		a.value, err = p.ask(ctx)
		return err
	})
	logPanic(logger, a.err)
	p.mu.Lock()
	p.running = nil
	p.mu.Unlock()
	close(a.done)
}

// report calls all probes at once. It returns a line for each, and the errors. A probe without an answer within the
// time of a call has failed.
func report(ctx context.Context, probes []*probe, logger *slog.Logger) (lines []string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probing, fmt.Errorf("no answer within %s", probing))
	defer cancel()
	values, errs := make([]any, len(probes)), make([]error, len(probes))
	var asking sync.WaitGroup
	for i, p := range probes {
		asking.Go(func() { values[i], errs[i] = p.answer(ctx, logger) })
	}
	asking.Wait()
	for i, p := range probes {
		switch {
		case errs[i] != nil:
			errs[i] = fmt.Errorf("%s: %w", p.name, errs[i])
		case values[i] == nil:
			lines = append(lines, p.name+": ok")
		default:
			lines = append(lines, fmt.Sprintf("%s: %v", p.name, values[i]))
		}
	}
	return lines, errors.Join(errs...)
}

// serveProbes returns a handler that serves the result of check and of probes.
func serveProbes(check func() error, probes []*probe, logger *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		lines, err := report(req.Context(), probes, logger)
		err = errors.Join(check(), err)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
		} else {
			fmt.Fprintln(w, "ok")
		}
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}
}
