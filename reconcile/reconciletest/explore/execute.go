package explore

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// trace is one execution of a life.
type trace struct {
	life life
	// disturbances are the plan of the execution.
	disturbances []armed
	// began is the state at the beginning, and chapters are those that were lived. refused is why the cluster refuses
	// what the last chapter begins with.
	began    state
	chapters []lived
	refused  error
	// failure is what the harness reports, such as a hot loop.
	failure string
	// runs counts the reconciles.
	runs int
}

// lived is one chapter of an execution.
type lived struct {
	calls []reconciletest.Call
	// again are the writes of the operator after it had nothing left to do, and anew those after a restart.
	again, anew []reconciletest.Call
	// errs are the errors with which the last reconciles of resources ended.
	errs map[string]string
	end  state
	// children are the objects that the operator has created, by name, without those whose name is generated.
	children []string
	// ready are the resources that are Ready for their generation.
	ready []string
}

// execute runs the operator through a life with disturbances, in a bubble of testing/synctest. The life begins later by
// the given time.
func (e *explorer) execute(l life, disturbances []armed, later time.Duration) *trace {
	tr := &trace{life: l, disturbances: slices.Clone(disturbances)}
	synctest.Test(e.t, func(t *testing.T) {
		trial := newTrial(t.Context())
		trial.run(func() {
			h := e.start(trial)
			defer func() { tr.runs = len(h.Runs()) }()
			h.Advance(later)
			tr.began = stateOf(h)
			for n, c := range l.chapters {
				if tr.refused = e.live(h, tr, c, disturbances, n+1); tr.refused != nil {
					return
				}
			}
		})
		trial.end()
		tr.failure = trial.failure
	})
	e.visited += max(tr.runs, len(tr.chapters)) // an operator that reconciles nothing comes to an end, too
	return tr
}

// live lives a chapter, the nth counted from 1. It returns an error if the cluster refuses what it begins with.
func (e *explorer) live(h *reconciletest.Harness, tr *trace, c chapter, disturbances []armed, n int) error {
	tr.chapters = append(tr.chapters, lived{})
	if err := c.begin(h); err != nil {
		return err
	}
	restarts, takes := e.disturb(h, disturbances, n)
	now := &tr.chapters[n-1]
	h.RunUntilSettled()
	now.calls = h.Calls()
	for _, child := range takes {
		if err := h.TryDelete(child); err == nil { // else another disturbance has changed what there is
			h.RunUntilSettled()
		}
	}
	h.RunUntilSettled()
	now.again = writes(h.Calls())
	now.end, now.ready = stateOf(h), readyOf(h, e.kind)
	now.errs = lastErrors(h, now.end)
	now.children = e.children(tr.began, now.end)
	if restarts {
		h.Advance(time.Minute)
		h.Restart()
		h.RunUntilSettled()
		now.anew = slices.DeleteFunc(writes(h.Calls()), func(call reconciletest.Call) bool { return call.Action == deploy.Unchanged })
		now.errs = lastErrors(h, stateOf(h))
	}
	return nil
}

// disturb prepares the disturbances of the nth chapter. It returns what happens at its end: whether the operator is
// restarted, and which objects somebody deletes. The requests of the test itself aren't disturbed.
func (e *explorer) disturb(h *reconciletest.Harness, disturbances []armed, n int) (restarts bool, takes []string) {
	for _, a := range disturbances {
		switch {
		case a.chapter != n:
		case a.act == killBefore || a.act == killAfter:
			h.Kill(a.write, a.act == killAfter)
		case a.act == restart:
			restarts = true
		case a.act == take:
			takes = append(takes, a.about)
		default:
			h.FailRequest(a.request, faults[a.act])
		}
	}
	return restarts, takes
}

// children returns the objects that came since the beginning, without the resources.
func (e *explorer) children(began, end state) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(end)) {
		content := end[name]
		metadata, _ := content["metadata"].(map[string]any)
		if began[name] == nil && content["kind"] != e.kind.Kind && metadata["generateName"] == nil {
			names = append(names, name)
		}
	}
	return names
}

func writes(calls []reconciletest.Call) (found []reconciletest.Call) {
	for _, call := range calls {
		if call.Write() {
			found = append(found, call)
		}
	}
	return found
}

// lastErrors returns the errors with which the last reconcile of each resource ended that is still there.
func lastErrors(h *reconciletest.Harness, now state) map[string]string {
	errs := map[string]string{}
	for _, run := range h.Runs() {
		name := refName(run.Key)
		if delete(errs, name); run.Err != nil && now[name] != nil {
			errs[name] = run.Err.Error()
		}
	}
	return errs
}
