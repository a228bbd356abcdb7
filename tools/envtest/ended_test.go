package envtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/envtest"
)

// What a test leaves behind with a finalizer, as one does whose operator was killed, would hold up its namespace for
// ever.
func TestNamespacesOfTestsThatHaveEndedGo(t *testing.T) {
	t.Parallel()
	own := envtest.Start(t)
	admin := client(t, own.Admin)
	held := configMap("held")
	held.SetFinalizers([]string{"example.dev/nobody"})
	leases := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	_, err := admin.Resource(configMaps).Namespace(own.Namespace).Create(t.Context(), held.DeepCopy(), metav1.CreateOptions{})
	require.NoError(t, err)

	ended := ""
	t.Run("leaves something", func(t *testing.T) {
		env := envtest.Start(t)
		ended = env.Namespace
		_, err := admin.Resource(configMaps).Namespace(ended).Create(t.Context(), held.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		lease := held.DeepCopy()
		lease.SetAPIVersion("coordination.k8s.io/v1")
		lease.SetKind("Lease")
		_, err = admin.Resource(leases).Namespace(ended).Create(t.Context(), lease, metav1.CreateOptions{})
		require.NoError(t, err)
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		t.Run("ends later", func(t *testing.T) { envtest.Start(t) })
		if _, err = admin.Resource(namespaces).Get(t.Context(), ended, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			break // the test that has just ended took the finalizers off, or one before
		}
		require.NoError(t, err)
		require.True(t, time.Now().Before(deadline), "%s is still there", ended)
	}
	live, err := admin.Resource(configMaps).Namespace(own.Namespace).Get(t.Context(), "held", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"example.dev/nobody"}, live.GetFinalizers(), "who is at work is left alone")
}
