package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest/audit"
)

const (
	// markPrefix is the prefix of the names that we request in order to find a position in the audit log.
	markPrefix = "guestbook-demo-mark-"
	// quiet is how long the operator must send no requests before its work counts as done. settleTimeout is how long
	// that may take.
	quiet         = 200 * time.Millisecond
	settleTimeout = 10 * time.Second
)

// meter counts the calls of a user by the API server's own audit log.
type meter struct {
	log       audit.Log
	user      string
	port      deploy.Port
	namespace string
	from      audit.Position // where the next lap begins
}

// mark returns the position after all requests that were answered until now. It sends a request of its own and waits
// until the log has it.
func (m *meter) mark(ctx context.Context) (audit.Position, error) {
	end, err := m.log.End()
	if err != nil {
		return audit.Position{}, err
	}
	ref := deploy.Ref{Kind: configMapKind, Namespace: m.namespace, Name: markPrefix + strings.ToLower(rand.Text())}
	if _, err = m.port.Get(ctx, ref); err != nil {
		return audit.Position{}, fmt.Errorf("mark in the audit log: %w", err)
	}
	return m.log.Await(ctx, end, ref.Name)
}

// start begins the first lap.
func (m *meter) start(ctx context.Context) (err error) {
	m.from, err = m.mark(ctx)
	return err
}

// lap waits until the user is quiet, returns its calls since the last lap, and begins the next lap.
func (m *meter) lap(ctx context.Context) (audit.Calls, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("%s: doesn't come to rest within %s", m.user, settleTimeout))
	defer cancel()
	for at := m.from; ; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(quiet):
		}
		now, err := m.mark(ctx)
		if err != nil {
			return nil, err
		}
		latest, err := m.calls(at, now)
		if err != nil {
			return nil, err
		}
		at = now
		if len(latest) == 0 {
			break
		}
	}
	to, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := m.calls(m.from, to)
	m.from = to
	return calls, err
}

func (m *meter) calls(from, to audit.Position) (audit.Calls, error) {
	return m.log.Calls(from, to, audit.Match{Users: []string{m.user}})
}

// targets lists what the calls were for, each once, in the order of the calls:
// "configmaps hello-web", "guestbooks/status hello (2 times)".
func targets(calls audit.Calls) []string {
	var names []string
	times := map[string]int{}
	for _, call := range calls {
		name := call.Resource
		if call.Subresource != "" {
			name += "/" + call.Subresource
		}
		if call.Resource != "events" { // the names of Events contain times
			name += " " + call.Name
		}
		if times[name] == 0 {
			names = append(names, name)
		}
		times[name]++
	}
	for i, name := range names {
		if times[name] > 1 {
			names[i] = fmt.Sprintf("%s (%d times)", name, times[name])
		}
	}
	return names
}

// toChildren returns the successful writes to a guestbook's objects, without writes to the guestbook itself and of
// Events.
func toChildren(calls audit.Calls) audit.Calls {
	return calls.Writes().Filter(func(c audit.Call) bool { return c.Resource != "guestbooks" && c.Resource != "events" && c.Code < 400 })
}

// exactly returns a function that returns an error unless the writes to children are these, in any order.
func exactly(want ...string) func(audit.Calls) error {
	return func(calls audit.Calls) error {
		wrote := targets(toChildren(calls))
		slices.Sort(wrote)
		if !slices.Equal(wrote, want) {
			return fmt.Errorf("the operator wrote %q, and should have written %q", wrote, want)
		}
		return nil
	}
}
