package answer

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	pods   = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	nodes  = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	cats   = schema.GroupVersionKind{Version: "v1", Kind: "Cat"}
	scopes = map[schema.GroupVersionKind]deploy.Scope{pods: deploy.Namespaced, nodes: deploy.ClusterScoped}
)

func rulesIn(namespace string) Rules {
	return Rules{
		Parent: deploy.Ref{Namespace: namespace, Name: "p"}, Scopes: scopes,
		Kinds: map[schema.GroupKind]schema.GroupVersionKind{pods.GroupKind(): pods, nodes.GroupKind(): nodes, cats.GroupKind(): cats},
	}
}

func none(deploy.Ref) *unstructured.Unstructured { return nil }

type fields = map[string]any

func object(kind, namespace, name string) fields {
	metadata := fields{}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	if name != "" {
		metadata["name"] = name
	}
	return fields{"apiVersion": "v1", "kind": kind, "metadata": metadata}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	other, generated := object("Pod", "", "a"), object("Pod", "", "")
	other["apiVersion"] = "v2"
	generated["metadata"].(fields)["generateName"] = "a-"
	for _, row := range []struct {
		reason, home string
		child        any
		namespace    string
		wrong        string
	}{
		{"desired 3: a child gets the namespace of its parent", "n", object("Pod", "", "a"), "n", ""},
		{"desired 3: it may name it", "n", object("Pod", "n", "a"), "n", ""},
		{"desired 3: but no other", "n", object("Pod", "m", "a"), "", `it is in the namespace "m", and the parent is in "n"`},
		{"desired 3: a cluster-scoped parent has children in any namespace", "", object("Pod", "m", "a"), "m", ""},
		{"desired 3: which they have to name", "", object("Pod", "", "a"), "", "it has no namespace"},
		{"desired 3: and children without namespaces", "", object("Node", "", "a"), "", ""},
		{"desired 68: the scope of a kind that isn't served is no fault", "", object("Cat", "", "a"), "", ""},
		{"desired 3: which can't name one", "", object("Node", "m", "a"), "", `it names the namespace "m"`},
		{"desired 3: a namespaced parent can't own those", "n", object("Node", "", "a"), "", "the parent is namespaced"},
		{"desired 2: a kind that isn't declared", "n", object("Secret", "", "a"), "", "the kind Secret of v1 isn't declared"},
		{"desired 2: another version", "n", other, "", "declared as Pod of v1, the child is of Pod of v2"},
		{"desired 2: no name", "n", object("Pod", "", ""), "", "it has no name"},
		{"desired 2: a generateName", "n", generated, "", "it has a generateName and no name"},
		{"desired 2: nil", "n", nil, "", "an object is nil"},
		{"desired 2: no object", "n", 7, "", "type int"},
		{"desired 2: no kind", "n", fields{"metadata": fields{"name": "a"}}, "", "has no apiVersion and kind"},
		{"desired 2: metadata that is no map", "n", fields{"apiVersion": "v1", "kind": "Pod", "metadata": "a"}, "", "it has no name"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			children, faults := rulesIn(row.home).Read([]any{row.child}, none)
			if row.wrong != "" {
				require.Len(t, faults, 1)
				assert.Contains(t, faults[0].Reason, row.wrong)
				assert.Empty(t, children)
				return
			}
			require.Empty(t, faults)
			assert.Equal(t, row.namespace, children[0].Ref.Namespace)
			assert.Equal(t, row.namespace, children[0].Object.GetNamespace())
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("desired 1: all faults are found at once, and doubled children are faults", func(t *testing.T) {
		t.Parallel()
		children, faults := rulesIn("n").Read([]any{object("Pod", "", "a"), object("Secret", "", "b"), object("Pod", "n", "a"), object("Pod", "", "c")}, none)
		require.Len(t, faults, 2)
		assert.Equal(t, 1, faults[0].Place)
		assert.Equal(t, "it is returned twice, as children 0 and 2: return each child once", faults[1].Reason)
		assert.Len(t, children, 2)
	})
	t.Run("desired 4: the status and what only the cluster sets is left out", func(t *testing.T) {
		t.Parallel()
		given := fields{
			"apiVersion": "v1", "kind": "Pod", "spec": fields{"a": "b"}, "status": fields{"phase": "Running"},
			"metadata": fields{
				"name": "a", "uid": "1", "resourceVersion": "2", "generation": int64(3), "creationTimestamp": nil, "managedFields": []any{},
				"selfLink": "x", "deletionTimestamp": "y", "deletionGracePeriodSeconds": int64(1), "labels": fields{"c": "d"}, "finalizers": []any{"e"},
			},
		}
		before := runtime.DeepCopyJSON(given)
		children, faults := rulesIn("n").Read([]any{given}, none)
		require.Empty(t, faults)
		assert.Equal(t, fields{
			"apiVersion": "v1", "kind": "Pod", "spec": fields{"a": "b"},
			"metadata": fields{"name": "a", "namespace": "n", "labels": fields{"c": "d"}, "finalizers": []any{"e"}},
		}, children[0].Object.Object)
		assert.Equal(t, before, given, "the answer isn't changed")
	})
	t.Run("desired 4: an observed child that is returned without a change stays as it is", func(t *testing.T) {
		t.Parallel()
		observed := &unstructured.Unstructured{Object: object("Pod", "n", "a")}
		observed.SetUID("1")
		seen := func(ref deploy.Ref) *unstructured.Unstructured { return observed }
		children, faults := rulesIn("n").Read([]any{observed}, seen)
		require.Empty(t, faults)
		assert.True(t, children[0].Kept)
		children, _ = rulesIn("n").Read([]any{observed.DeepCopy()}, seen)
		assert.True(t, children[0].Kept, "an equal copy, too")
		edited := observed.DeepCopy()
		edited.SetLabels(map[string]string{"a": "b"})
		children, _ = rulesIn("n").Read([]any{edited}, seen)
		assert.False(t, children[0].Kept, "a changed copy is a wanted state")
		assert.Empty(t, children[0].Object.GetUID())
	})
}
