package temporarypatch_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

func TestCRD(t *testing.T) {
	t.Parallel()
	crd, err := temporarypatch.CRD()
	require.NoError(t, err)
	text, err := os.ReadFile("operkit.dev_temporarypatches.yaml")
	require.NoError(t, err)
	document, err := yaml.ToJSON(text)
	require.NoError(t, err)
	assert.JSONEq(t, string(document), string(marshal(t, crd.Object)), "it is the generated one")

	require.NoError(t, unstructured.SetNestedField(crd.Object, "spoilt", "spec", "group"))
	again, err := temporarypatch.CRD()
	require.NoError(t, err)
	group, _, err := unstructured.NestedString(again.Object, "spec", "group")
	require.NoError(t, err)
	assert.Equal(t, "operkit.dev", group, "the object is the caller's own")
}

func TestCRDOfAnotherKind(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]schema.GroupVersionKind{
		"temporarypatches.oper8.org": {Group: "oper8.org", Version: "v1", Kind: "TemporaryPatch"},
		"quickfixes.a.dev":           {Group: "a.dev", Version: "v2", Kind: "QuickFix"},
		"edits.a.dev":                {Group: "a.dev", Version: "v2", Kind: "Edit"},
	} {
		crd, err := temporarypatch.CRD(temporarypatch.As(kind))
		require.NoError(t, err)
		assert.Equal(t, name, crd.GetName(), "patches 9")
		w := newCluster(t, nil, temporarypatch.As(kind))
		ref := w.put(object("{apiVersion: " + kind.GroupVersion().String() + ", kind: " + kind.Kind + ", metadata: {name: a, namespace: shop}, spec: {apiVersion: v1, kind: A, name: a, patchType: json, patch: {a: {}}}}"))
		assert.NotNil(t, w.get(ref), "the cluster serves it")
	}
}

// A patch as a Go value is the same as one in YAML.
func TestTypes(t *testing.T) {
	t.Parallel()
	patch := temporarypatch.TemporaryPatch{
		TypeMeta:   metav1.TypeMeta{APIVersion: "operkit.dev/v1", Kind: "TemporaryPatch"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop"},
		Spec: temporarypatch.TemporaryPatchSpec{
			APIVersion: "example.dev/v1", Kind: "Widget", Name: "w", PatchType: temporarypatch.JSON, Priority: 2,
			Patches: []temporarypatch.ObjectPatch{{Component: "web", Object: "deployment", Patch: runtime.RawExtension{
				Raw: []byte(`[{"op":"replace","path":"/spec/replicas","value":4}]`)}}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&patch)
	require.NoError(t, err)
	w := newWorld(t)
	unstructured.RemoveNestedField(content, "status")
	w.put(&unstructured.Unstructured{Object: content})
	w.patched("a")
	w.rendered()
	assert.EqualValues(t, 4, w.replicas())

	var read temporarypatch.TemporaryPatch
	document, err := json.Marshal(w.get(deploy.Ref{Kind: temporarypatch.DefaultKind, Namespace: "shop", Name: "a"}).Object)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(document, &read))
	assert.Equal(t, patch.Spec, read.Spec)
	copied := read.DeepCopy()
	copied.Spec.Patches[0].Patch.Raw[0] = 'x'
	assert.Equal(t, patch.Spec, read.Spec, "a deep copy shares nothing")
}
