package temporarypatch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

// spec is a patch p of the gizmo g with more in its spec.
func spec(more string) string {
	return fmt.Sprintf("{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: p}, spec: {apiVersion: integration.operkit.dev/v1, kind: Gizmo, name: g, %s}}", more)
}

func TestPatchAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.create("{apiVersion: integration.operkit.dev/v1, kind: Gizmo, metadata: {name: g}}"))
	w.mode("old")
	require.NoError(t, w.create(spec("patchType: strategic, patch: {store: {settings: {data: {mode: new}}}}")))
	w.mode("new")
	require.NoError(t, w.patch(`{"spec":{"patch":{"store":{"settings":{"data":{"mode":"newer"}}}}}}`))
	w.mode("newer")

	gizmo, err := w.port.Get(t.Context(), w.ref(gizmos, "g"))
	require.NoError(t, err)
	assert.Contains(t, gizmo.GetAnnotations(), "operkit.dev/temporary-patches")

	require.NoError(t, w.port.Delete(t.Context(), w.ref(temporarypatch.DefaultKind, "p"), deploy.DeleteOptions{}))
	w.mode("old")
}

// What a patch can't be the API server says, before anything is rendered with it.
func TestDefinition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct{ reason, spec string }{
		{"neither a patch nor patches", "patchType: strategic"},
		{"an empty tree", "patchType: strategic, patch: {}"},
		{"both", "patchType: strategic, patch: {a: {}}, patches: [{component: a, object: b, patch: {}}]"},
		{"an unknown type", "patchType: merge, patch: {a: {}}"},
		{"no type", "patch: {a: {}}"},
		{"a tree that is a list", "patchType: json, patch: [1]"},
		{"no patches in the list", "patchType: json, patches: []"},
		{"a patch without a body", "patchType: json, patches: [{component: a, object: b}]"},
		{"a body that is null, which counts as none", "patchType: json, patches: [{component: a, object: b, patch: null}]"},
		{"two of one object", "patchType: json, patches: [{component: a, object: b, patch: []}, {component: a, object: b, patch: []}]"},
	} {
		assert.Error(t, w.create(spec(row.spec)), row.reason)
	}
	require.NoError(t, w.create(spec("patchType: strategic, patch: {a: {}}")))
	for _, change := range []string{`{"name":"h"}`, `{"kind":"H"}`, `{"apiVersion":"h/v1"}`, `{"patch":null}`, `{"patch":{"a":null}}`} {
		assert.Error(t, w.patch(`{"spec":`+change+`}`), change)
	}
}
