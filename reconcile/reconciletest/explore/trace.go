package explore

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	// failure is what the harness reports, such as a hot loop, and heartbeats are patterns for all that changed in it.
	failure    string
	heartbeats []string
	// runs counts the reconciles.
	runs int
	// components are the components of objects, by the names of the objects.
	components map[string]string
	// equal: the execution ended when it came into a state that goes on as in an earlier execution.
	equal bool
}

// lived is one chapter of an execution.
type lived struct {
	// calls are all requests, and judged those without what is ignored.
	calls, judged []reconciletest.Call
	// points counts when several requests or reads waited to go on.
	points int
	// passed: the next chapter began before the operator had nothing left to do.
	passed bool
	// again are the writes of the operator after it had nothing left to do, and anew those after a restart.
	again, anew []reconciletest.Call
	// errs are the errors with which the last reconciles of resources ended.
	errs map[string]string
	end  state
	// children are the objects that the operator has created, by name, without those whose name is generated.
	children []string
	// claimed are the claims to be Ready that statuses have begun with, unless somebody or something deceives the
	// operator.
	claimed []claimed
	// ready are the resources that are Ready for their generation.
	ready []string
	// faults are what oracles found, and panics those of the operator.
	faults []fault
	panics []string
}

// children returns the objects that came since the beginning, without the resources.
func (e *explorer) children(began, end state) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(end)) {
		obj := unstructured.Unstructured{Object: end[name]}
		if began[name] == nil && obj.GroupVersionKind().GroupKind() != e.kind.GroupKind() && obj.GetGenerateName() == "" {
			names = append(names, name)
		}
	}
	return names
}

// rested returns the state when the operator had nothing left to do for the last time.
func (tr *trace) rested() state {
	for _, now := range slices.Backward(tr.chapters) {
		if now.end != nil {
			return now.end
		}
	}
	return tr.began
}

// present returns, for each request of the nth chapter, counted from 0, whether it is about a child that exists then.
func (tr *trace) present(n int) (present []bool) {
	now, exists := tr.chapters[n], map[string]bool{}
	if n > 0 {
		for _, name := range tr.chapters[n-1].children {
			exists[name] = true
		}
	}
	for _, call := range now.calls {
		name := refName(call.Ref)
		present = append(present, exists[name])
		switch call.Action {
		case deploy.Created:
			exists[name] = slices.Contains(now.children, name)
		case deploy.Removed:
			delete(exists, name)
		}
	}
	return present
}

func componentsOf(h *reconciletest.Harness) map[string]string {
	components := map[string]string{}
	for ref, component := range h.Components() {
		components[refName(ref)] = component
	}
	return components
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
