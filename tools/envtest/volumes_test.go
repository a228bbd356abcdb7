package envtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/tools/envtest"
)

var (
	claims  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	volumes = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
	classes = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	sets    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
)

const (
	claimed = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: cache}, spec: {
		storageClassName: immediate, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	database = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: database}, spec: {
		replicas: 1, serviceName: database, selector: {matchLabels: {app: database}},
		template: {metadata: {labels: {app: database}}, spec: {containers: [{name: c, image: example.invalid/none}]}},
		volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`
)

// A test's own user, who has no rights to volumes, gets claims bound in both ways, and deletes them with their volumes.
func TestClaimsAreBound(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	own, admin := client(t, env.Config), client(t, env.Admin)
	create := func(resource schema.GroupVersionResource, text string) {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
		_, err := own.Resource(resource).Namespace(env.Namespace).Create(t.Context(), object, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	// volumeOf returns the name of the volume that a claim is bound to, empty as long as it isn't.
	volumeOf := func(name string) string {
		claim, err := own.Resource(claims).Namespace(env.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		if phase, _, _ := unstructured.NestedString(claim.Object, "status", "phase"); phase != "Bound" {
			return ""
		}
		volume, _, _ := unstructured.NestedString(claim.Object, "spec", "volumeName")
		return volume
	}

	create(claims, claimed)
	require.Eventually(t, func() bool { return volumeOf("cache") != "" }, 30*time.Second, 5*time.Millisecond, "without a Pod")

	create(sets, database)
	require.Eventually(t, func() bool {
		set, err := own.Resource(sets).Namespace(env.Namespace).Get(t.Context(), "database", metav1.GetOptions{})
		require.NoError(t, err)
		ready, _, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas")
		return ready == 1
	}, 30*time.Second, 5*time.Millisecond, "a Pod of a StatefulSet has its volume")
	assert.NotEmpty(t, volumeOf("data-database-0"))

	volume := volumeOf("cache")
	require.NoError(t, own.Resource(claims).Namespace(env.Namespace).Delete(t.Context(), "cache", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := admin.Resource(volumes).Get(t.Context(), volume, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, 30*time.Second, 5*time.Millisecond, "the volume is deleted with its claim")
}

func TestWithoutControllersThereAreNoStorageClasses(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"))
	list, err := client(t, env.Admin).Resource(classes).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, list.Items)
}
