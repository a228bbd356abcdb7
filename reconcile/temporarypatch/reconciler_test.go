package temporarypatch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
)

// What becomes of patches for kinds that aren't the operator's.
func TestPatchesOfOtherKinds(t *testing.T) {
	t.Parallel()
	gadget := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Gadget"}
	for reason, row := range map[string]struct {
		kind, apiVersion string
		unserved         bool
		want             string
	}{
		"one that another operator may have is left alone":               {kind: "Gadget", apiVersion: "example.dev/v1"},
		"patches mistake 4: one of Kubernetes' own is refused":           {kind: "Deployment", apiVersion: "apps/v1", want: "spec.kind: nobody is known to patch a Deployment of apps/v1: operkit patches Widget"},
		"patches mistake 4: one that isn't served, maybe a slip, is too": {kind: "Gadget", apiVersion: "example.dev/v1", unserved: true, want: "spec.kind: nobody is known to patch a Gadget of example.dev/v1: operkit patches Widget"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if row.unserved {
				w.port.unserved = gadget
			}
			ref := w.createFor("a", "apiVersion: "+row.apiVersion+", kind: "+row.kind+", name: w, "+loud)
			writes := w.patched("a")
			assert.Empty(t, w.get(ref).GetFinalizers(), "nobody has to take one off")
			if row.want == "" {
				assert.Empty(t, writes)
				assert.NotContains(t, w.get(ref).Object, "status")
				return
			}
			assert.Equal(t, []string{"patch TemporaryPatch shop/a status"}, writes)
			condition, _ := status.Conditions(w.get(ref)).Get(temporarypatch.ConditionApplied)
			assert.Equal(t, temporarypatch.ReasonNotPatchable, condition.Reason)
			assert.Equal(t, row.want, condition.Message)
			assert.Empty(t, w.patched("a"), "it is said once")
		})
	}
	t.Run("patches 7: the finalizer that this operator put on goes, whatever it controls now", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		w.restart([]string{"Gadget"})
		w.patched("a")
		assert.Nil(t, w.get(ref))
	})
	t.Run("patches 7: another operator's finalizer stays", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		w.manager = must(deploy.NewManager(w, deploy.FieldManager("other")))
		w.restart([]string{"Gadget"})
		assert.Empty(t, w.patched("a"))
		assert.Equal(t, []string{finalizer}, w.get(ref).GetFinalizers())
	})
	t.Run("a bad option is refused", func(t *testing.T) {
		t.Parallel()
		_, err := newWorld(t).patches.Reconciler(reconcile.Concurrency(-1))
		assert.EqualError(t, err, "concurrency: -1: it can't be negative")
	})
}

func TestTarget(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		patch string
		want  deploy.Ref
	}{
		"all of it": {`{kind: P, metadata: {namespace: shop}, spec: {apiVersion: example.dev/v1, kind: Widget, name: w}}`,
			deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}, Namespace: "shop", Name: "w"}},
		"nothing of it": {`{kind: P, spec: 7}`, deploy.Ref{}},
		"no version":    {`{kind: P, spec: {apiVersion: a/b/c, kind: Widget}}`, deploy.Ref{Kind: schema.GroupVersionKind{Group: "a/b/c", Kind: "Widget"}}},
	} {
		assert.Equal(t, row.want, temporarypatch.Target(object(row.patch)), reason)
	}
}
