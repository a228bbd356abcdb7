package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// latest is how many of the last reconciles show why an operator doesn't come to rest.
const latest = 20

// beatsOf returns the fields of statuses that the last reconciles have set to other times, as patterns of Ignore. It
// returns none if they have changed anything else.
func (e *explorer) beatsOf(runs []reconciletest.Run) []string {
	patterns := map[string]bool{}
	for _, run := range runs[max(0, len(runs)-latest):] {
		for _, call := range e.options.judgedCalls(writes(run.Calls)) {
			for _, change := range call.Changes {
				if call.Ref.Kind.GroupKind() != e.kind.GroupKind() || !beat(change) {
					return nil
				}
				field := strings.TrimPrefix(elementKeys.ReplaceAllString(change.Path, "[$1]"), ".")
				patterns[fmt.Sprintf("%s * %s", call.Ref.Kind.Kind, field)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(patterns))
}

// beat reports whether a change is of a time in a status, but not of the transition of a condition.
func beat(change deploy.Change) bool {
	before, was := change.Before.(string)
	after, is := change.After.(string)
	return was && is && isTime(before) && isTime(after) && strings.HasPrefix(change.Path, ".status.") && !strings.HasSuffix(change.Path, ".lastTransitionTime")
}

// onPurpose says how to ignore heartbeats.
func onPurpose(heartbeats []string) string {
	return fmt.Sprintf("if it writes them on purpose: explore.Ignore(%s)", strings.Trim(strings.ReplaceAll(fmt.Sprintf("%q", heartbeats), `" "`, `", "`), "[]"))
}
