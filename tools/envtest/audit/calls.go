package audit

import (
	"net/http"
	"slices"
	"strings"
)

// Calls are requests in the order of their lines in the log. Every filter returns a new slice and leaves the receiver
// unchanged. The nil value has no calls.
type Calls []Call

// Filter returns the calls for which keep returns true.
func (c Calls) Filter(keep func(Call) bool) Calls {
	var kept Calls
	for _, call := range c {
		if keep(call) {
			kept = append(kept, call)
		}
	}
	return kept
}

// Writes returns the requests to change stored state, refused ones included; see [Call.IsWrite].
func (c Calls) Writes() Calls { return c.Filter(Call.IsWrite) }

// Reads returns the gets and lists of resources, without discovery and watches.
func (c Calls) Reads() Calls { return c.Filter(Call.IsRead) }

// Watches returns the watches. A watch that still runs is included only if the log records its start (stage
// ResponseStarted).
func (c Calls) Watches() Calls { return c.Filter(Call.IsWatch) }

// DryRuns returns the requests to change state that were sent as dry runs.
func (c Calls) DryRuns() Calls {
	return c.Filter(func(call Call) bool { return call.changes() && call.DryRun })
}

// Failed returns the calls whose HTTP status is 400 or more.
func (c Calls) Failed() Calls { return c.Filter(func(call Call) bool { return call.Code >= 400 }) }

// Forbidden returns the calls whose HTTP status is 403: the user lacked the rights, or admission refused the request.
func (c Calls) Forbidden() Calls {
	return c.Filter(func(call Call) bool { return call.Code == http.StatusForbidden })
}

// By returns the calls of these users.
func (c Calls) By(users ...string) Calls {
	return c.Filter(func(call Call) bool { return slices.Contains(users, call.User) })
}

// In returns the calls for objects of one namespace, and for the namespace itself, except for its creation.
func (c Calls) In(namespace string) Calls {
	return c.Filter(func(call Call) bool { return call.Namespace == namespace })
}

// Of returns the calls for these resources, each named as [Call.Target] does. A name without a subresource also selects
// the calls for the resource's subresources.
func (c Calls) Of(targets ...string) Calls {
	return c.Filter(func(call Call) bool {
		target := call.Target()
		parent, _, _ := strings.Cut(target, "/")
		return slices.Contains(targets, target) || call.Resource != "" && slices.Contains(targets, parent)
	})
}

// With returns the calls with one of these verbs.
func (c Calls) With(verbs ...string) Calls {
	return c.Filter(func(call Call) bool { return slices.Contains(verbs, call.Verb) })
}

// Count returns how often each verb was sent to each target, such as {"create configmaps": 3}.
func (c Calls) Count() map[string]int {
	counts := map[string]int{}
	for _, call := range c {
		counts[call.Verb+" "+call.Target()]++
	}
	return counts
}

// String returns one line for each call.
func (c Calls) String() string {
	lines := make([]string, len(c))
	for i, call := range c {
		lines[i] = call.String()
	}
	return strings.Join(lines, "\n")
}
