package explore

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// needsNext are the acts that need a next chapter.
var needsNext = []act{hurry, outage, lagResource, hide, miss}

// possible returns all disturbances of one execution: those from the first chapter on.
func (e *explorer) possible(tr *trace, first int) (choices []choice) {
	for n := first; n < len(tr.chapters); n++ {
		now, last := tr.chapters[n], n == len(tr.life.chapters)-1
		if tr.life.chapters[n].repeats {
			continue
		}
		add := func(request int, acts ...act) {
			for _, a := range acts {
				if !last || !slices.Contains(needsNext, a) {
					choices = append(choices, choice{n + 1, request, a})
				}
			}
		}
		add(0, restart, miss)
		present := tr.present(n)
		for i, call := range now.calls {
			add(i+1, e.actsAt(tr, call, present[i])...)
		}
		for i, child := range now.children {
			add(i+1, take, hide)
			if !unrepaired(now.end[child]) {
				add(i+1, drift)
			}
		}
		for i := range now.points {
			add(i+1, reverse)
		}
	}
	return choices
}

// actsAt returns what can happen at a request of an execution. present: it is about a child that exists then.
func (e *explorer) actsAt(tr *trace, call reconciletest.Call, present bool) []act {
	ofResource := call.Ref.Kind.GroupKind() == e.kind.GroupKind()
	possible := append(actsAt(call), lagsAt(call, ofResource)...)
	if tr.life.paired() && call.Err == nil {
		possible = append(possible, overlap)
	}
	generated := call.Action == deploy.Configured && !ofResource && tr.began[refName(call.Ref)] == nil
	if present || generated {
		possible = append(possible, snatch)
	}
	if present && !tr.unrepaired(refName(call.Ref)) {
		possible = append(possible, alter)
	}
	return possible
}

// unrepaired reports whether an object is one that the operator leaves as it is after its creation.
func (tr *trace) unrepaired(object string) bool {
	return slices.ContainsFunc(tr.chapters, func(now lived) bool { return unrepaired(now.end[object]) })
}

// fixed are the kinds of objects that run once, or whose spec can't be changed back.
var fixed = []any{"Job", "Pod", "PersistentVolumeClaim"}

// unrepaired reports whether changes of others stay in an object: because of its kind, or because of its strategy, see
// package deploy.
func unrepaired(content map[string]any) bool {
	if slices.Contains(fixed, content["kind"]) {
		return true
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key, value := range annotations {
		if strings.HasSuffix(key, "/strategy") && (value == string(deploy.CreateOnly) || value == string(deploy.Ignore)) {
			return true
		}
	}
	return false
}
