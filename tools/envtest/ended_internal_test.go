package envtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestHeldUpBy(t *testing.T) {
	t.Parallel()
	finalizers := corev1.NamespaceCondition{Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionTrue}
	content := corev1.NamespaceCondition{
		Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue,
		Message: "Some resources are remaining: configmaps. has 2 resource instances, guestbooks.examples.operkit.dev has 1 resource instances",
	}
	kinds := []schema.GroupResource{{Resource: "configmaps"}, {Group: "examples.operkit.dev", Resource: "guestbooks"}}
	over := content
	over.Status = corev1.ConditionFalse
	for _, row := range []struct {
		reason     string
		conditions []corev1.NamespaceCondition
		want       []schema.GroupResource
	}{
		{"nothing is said yet", nil, nil},
		{"what is left has finalizers", []corev1.NamespaceCondition{content, finalizers}, kinds},
		{"what is left goes by itself, as Pods do in a while", []corev1.NamespaceCondition{content}, nil},
		{"what was left is gone", []corev1.NamespaceCondition{over, finalizers}, nil},
		{"a text of another kind", []corev1.NamespaceCondition{finalizers, {
			Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "much",
		}}, nil},
	} {
		assert.Equal(t, row.want, heldUpBy(row.conditions), row.reason)
	}
}

// Without controllers no deletion ends.
func TestFewNamespacesAreDeletedAtATime(t *testing.T) {
	t.Parallel()
	env := Start(t, OwnCluster("--components=etcd,apiserver"))
	p := env.plane
	for range deletions + 2 {
		name := namespaceName(t.Name())
		require.NoError(t, p.createNamespace(t.Context(), name, t.Name()))
		require.NoError(t, p.endNamespace(t.Context(), name))
	}
	going, err := p.ended(t.Context(), corev1.NamespaceTerminating, 0)
	require.NoError(t, err)
	assert.Len(t, going, deletions)
	waiting, err := p.ended(t.Context(), corev1.NamespaceActive, 0)
	require.NoError(t, err)
	assert.Len(t, waiting, 2)

	for i := range deletions - lateDeletions + 1 {
		gone, err := p.client.Resource(namespaces).Get(t.Context(), going[i].Name, metav1.GetOptions{})
		require.NoError(t, err)
		unstructured.RemoveNestedField(gone.Object, "spec", "finalizers")
		_, err = p.client.Resource(namespaces).Update(t.Context(), gone, metav1.UpdateOptions{}, "finalize")
		require.NoError(t, err)
	}
	require.NoError(t, p.endNamespace(t.Context(), "gone-already"))
	waiting, err = p.ended(t.Context(), corev1.NamespaceActive, 0)
	require.NoError(t, err)
	assert.Len(t, waiting, 1, "the end of another test begins the next deletion")
}
