package reconciletest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Leave makes resources leave what the operator watches, as when their namespace leaves its scope: they stay in the
// cluster, but they aren't reconciled any more, and a watch.Forgetter is called. They stay away, even after a Restart,
// until Enter.
func (h *Harness) Leave(resources ...string) {
	h.t.Helper()
	for _, resource := range resources {
		ref, obj := h.watched("leave", resource)
		h.events.ofResource(h.driven[ref.Kind])(happened{Event: deploy.Event{Type: deploy.Left, Old: obj, New: obj}})
		h.away[ref] = true
	}
}

// Enter ends Leave: the operator watches the resources again, as new ones.
func (h *Harness) Enter(resources ...string) {
	h.t.Helper()
	for _, resource := range resources {
		ref, obj := h.watched("enter", resource)
		delete(h.away, ref)
		h.events.ofResource(h.driven[ref.Kind])(happened{Event: deploy.Event{Type: deploy.Added, New: obj}, at: h.Now()})
	}
}

// watched returns a resource, after the events that came before.
func (h *Harness) watched(method, resource string) (deploy.Ref, *unstructured.Unstructured) {
	h.t.Helper()
	ref := h.find(resource)
	h.look()
	obj, err := h.cluster.View().Get(h.t.Context(), ref)
	switch {
	case err != nil:
		h.t.Fatalf("reconciletest: %s %s: %v", method, resource, err)
	case h.driven[ref.Kind] == nil:
		h.t.Fatalf("reconciletest: %s %s: no controller of the test is for that kind", method, resource)
	case obj == nil:
		h.t.Fatalf("reconciletest: %s %s: there is no such object", method, resource)
	}
	return ref, obj
}
