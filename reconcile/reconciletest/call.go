package reconciletest

import (
	"cmp"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
)

// Call is one request that the reconcilers sent to the cluster.
type Call struct {
	// At is the time of the request on the clock of the harness.
	At time.Time
	// Verb is the kind of request.
	Verb dryrun.Verb
	// Ref is the object; for a list it has no name.
	Ref deploy.Ref
	// Subresource is the subresource that was written, such as status; empty means the object without its status.
	Subresource string
	// Action is the result for the object: Created, Configured, Unchanged, Removed or Failed; empty for a read.
	Action deploy.Action
	// Changes are the changes that a write made to an existing object.
	Changes []deploy.Change
	// Err is the error of a call that failed.
	Err error
	// beside: the reconcile runs beside another one, see Overlap.
	beside bool
}

// Write reports whether the call is a write.
func (c Call) Write() bool { return c.Verb != dryrun.VerbGet && c.Verb != dryrun.VerbList }

// String returns the call on one line: "created Deployment test/web", "configured Shop test/tea status", "get Secret
// test/key".
func (c Call) String() string {
	parts := []string{cmp.Or(string(c.Action), string(c.Verb)), c.Ref.String()}
	if c.Subresource != "" {
		parts = append(parts, c.Subresource)
	}
	text := strings.Join(parts, " ")
	if c.Err != nil {
		text += ": " + c.Err.Error()
	}
	return text
}

// Calls returns the requests of the reconcilers in the latest run (Reconcile, RunUntilSettled, Advance), in order;
// concurrent requests of one reconcile may be in any order.
func (h *Harness) Calls() []Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Call(nil), h.calls...)
}

// Created fails the test unless all of these objects were created in the latest run.
func (h *Harness) Created(objects ...string) {
	h.t.Helper()
	h.expect(deploy.Created, objects)
}

// Configured fails the test unless all of these objects, or their subresources, were changed in the latest run:
// "Deployment web", "Shop tea status".
func (h *Harness) Configured(objects ...string) {
	h.t.Helper()
	h.expect(deploy.Configured, objects)
}

// Deleted fails the test unless the reconcilers deleted all of these objects in the latest run. Objects that the
// cluster's garbage collector deletes don't count, see Gone.
func (h *Harness) Deleted(objects ...string) {
	h.t.Helper()
	h.expect(deploy.Removed, objects)
}

// Writes fails the test unless the reconcilers sent n writes in the latest run. Writes of a status and of finalizers
// count, and so do writes that failed or changed nothing.
func (h *Harness) Writes(n int) {
	h.t.Helper()
	var writes []Call
	for _, call := range h.Calls() {
		if call.Write() {
			writes = append(writes, call)
		}
	}
	if len(writes) != n {
		h.t.Errorf("writes: %d, want %d:%s", len(writes), n, listed(writes))
	}
}

func (h *Harness) expect(action deploy.Action, objects []string) {
	h.t.Helper()
	calls := h.Calls()
	for _, object := range objects {
		wanted, err := parseName(object)
		if err != nil {
			h.t.Fatalf("reconciletest: %v", err)
		}
		found := false
		for _, call := range calls {
			found = found || call.Action == action && call.Subresource == wanted.sub && wanted.means(call.Ref, h.options.namespace)
		}
		if !found {
			h.t.Errorf("%s: was not %s; the calls were:%s", object, action, listed(calls))
		}
	}
}

func listed(calls []Call) string {
	if len(calls) == 0 {
		return " none"
	}
	var out strings.Builder
	for _, call := range calls {
		out.WriteString("\n  " + call.String())
	}
	return out.String()
}
