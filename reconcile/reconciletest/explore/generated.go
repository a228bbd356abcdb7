package explore

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// regenerated finds a value that was made by chance, was stored, and was replaced by another one, though it isn't
// without the disturbance. Without one only Secrets count.
func (l *lesson) regenerated(tr *trace) *finding {
	for n, now := range tr.chapters {
		for _, call := range now.judged {
			for _, change := range call.Changes {
				d := difference{refName(call.Ref), change}
				replaced := l.volatile[d.key()] && change.Before != nil && change.After != nil && call.Err == nil
				if replaced && !strings.HasPrefix(d.Path, ".status") && (tr == l.trace && call.Ref.Kind.Kind == "Secret" || tr != l.trace && !l.replaces(n, d) && !(tr.chapters[n].passed && l.replaces(n+1, d))) {
					return found(tr, n, "a generated value changes", d.object+" "+d.Path)
				}
			}
		}
	}
	return nil
}

// replaces reports whether a field is changed in a chapter without disturbances.
func (l *lesson) replaces(n int, d difference) bool {
	if n >= len(l.chapters) {
		return false
	}
	return slices.ContainsFunc(l.chapters[n].calls, func(call reconciletest.Call) bool {
		return refName(call.Ref) == d.object && slices.ContainsFunc(call.Changes, func(change deploy.Change) bool { return change.Path == d.Path })
	})
}
