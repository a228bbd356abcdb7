package envtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	p := Start(t, OwnCluster("--components=etcd,apiserver")).plane
	require.True(t, p.temporary)
	p.temporary = false
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

// What a test leaves behind with a finalizer, as one does whose operator was killed, would hold up its namespace for
// ever. The test has a cluster of its own: in the shared one the namespace may have to wait for those of other tests.
func TestNamespacesOfTestsThatHaveEndedGo(t *testing.T) {
	t.Parallel()
	env := Start(t, OwnCluster())
	p := env.plane
	p.temporary = false
	ended := namespaceName(t.Name())
	require.NoError(t, p.createNamespace(t.Context(), ended, t.Name()))
	leases := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	held := object("v1", "ConfigMap", "held")
	lease := object("coordination.k8s.io/v1", "Lease", "held")
	for _, o := range []*unstructured.Unstructured{held, lease} {
		o.SetFinalizers([]string{"example.dev/nobody"})
	}
	for _, namespace := range []string{env.Namespace, ended} {
		_, err := p.client.Resource(configMaps).Namespace(namespace).Create(t.Context(), held.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	_, err := p.client.Resource(leases).Namespace(ended).Create(t.Context(), lease, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, p.endNamespace(t.Context(), ended))
	require.Eventually(t, func() bool {
		assert.NoError(t, p.endNamespace(t.Context(), "of-a-later-test"))
		_, err := p.client.Resource(namespaces).Get(t.Context(), ended, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, time.Minute, 200*time.Millisecond, "the ends of later tests take the finalizers off")
	live, err := p.client.Resource(configMaps).Namespace(env.Namespace).Get(t.Context(), "held", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"example.dev/nobody"}, live.GetFinalizers(), "who is at work is left alone")
}
