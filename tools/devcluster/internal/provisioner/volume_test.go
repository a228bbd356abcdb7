package provisioner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const claimText = `
metadata: {name: data, namespace: shop, uid: 1-2, resourceVersion: "7"}
spec: {accessModes: [ReadWriteOncePod], volumeMode: Block, storageClassName: fast, volumeAttributesClassName: gold, resources: {requests: {storage: 5Gi}}}`

const volumeText = `
metadata: {name: pvc-1-2, annotations: {pv.kubernetes.io/provisioned-by: me}}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOncePod]
  volumeMode: Block
  persistentVolumeReclaimPolicy: Retain
  mountOptions: [noatime]
  storageClassName: fast
  volumeAttributesClassName: gold
  local: {path: /var/lib/devcluster/volumes/pvc-1-2}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [host]}]}]}}
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: shop, name: data, uid: 1-2, resourceVersion: "7"}`

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), object))
	return object
}

func TestNewVolume(t *testing.T) {
	t.Parallel()
	class := parse[storagev1.StorageClass](t, `{metadata: {name: fast}, reclaimPolicy: Retain, mountOptions: [noatime]}`)
	nodes, err := onlyOn(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{corev1.LabelHostname: "host"}}})
	require.NoError(t, err)
	volume := newVolume("me", parse[corev1.PersistentVolumeClaim](t, claimText), class, nodes)
	assert.Equal(t, parse[corev1.PersistentVolume](t, volumeText), volume)

	_, err = onlyOn(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
	assert.EqualError(t, err, "node node has no label kubernetes.io/hostname: set it, so that a volume can be tied to the node")
}

func TestClassName(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, claim, want string }{
		{"the field", `spec: {storageClassName: fast}`, "fast"},
		{"the old annotation has precedence", `{metadata: {annotations: {volume.beta.kubernetes.io/storage-class: old}}, spec: {storageClassName: fast}}`, "old"},
		{"no class", `spec: {}`, ""},
	} {
		assert.Equal(t, row.want, className(parse[corev1.PersistentVolumeClaim](t, row.claim)), row.reason)
	}
}
