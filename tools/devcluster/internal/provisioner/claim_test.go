package provisioner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
)

// waiting is a claim whose Pod was scheduled to the node.
const waiting = `
metadata:
  name: data
  namespace: shop
  uid: 1-2
  annotations: {volume.kubernetes.io/storage-provisioner: me, volume.kubernetes.io/selected-node: node}
spec: {storageClassName: local}`

// A claim that gets no volume is retried if the cause isn't in the claim: the error puts it back into the queue.
func TestProvisionRetries(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		labels map[string]string
		change func(claim *corev1.PersistentVolumeClaim)
		err    string // of the return
		event  string
	}{
		{
			"the node is as it should be", map[string]string{corev1.LabelHostname: "host"}, func(*corev1.PersistentVolumeClaim) {},
			"", "Normal ProvisioningSucceeded Successfully provisioned volume pvc-1-2",
		},
		{
			"somebody may set the label of the node later", nil, func(*corev1.PersistentVolumeClaim) {},
			"node node has no label kubernetes.io/hostname", "Warning ProvisioningFailed node node has no label kubernetes.io/hostname",
		},
		{
			"a selector can't be changed", map[string]string{corev1.LabelHostname: "host"},
			func(claim *corev1.PersistentVolumeClaim) { claim.Spec.Selector = &metav1.LabelSelector{} },
			"", "create one, or delete the claim and create it again without spec.selector",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(
				parse[storagev1.StorageClass](t, `{metadata: {name: local}, volumeBindingMode: WaitForFirstConsumer}`),
				&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: row.labels}})
			events := record.NewFakeRecorder(1)
			p := &provisioner{name: "me", client: client, events: events}
			claim := parse[corev1.PersistentVolumeClaim](t, waiting)
			row.change(claim)

			err := p.provision(t.Context(), claim)
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.err)
			}
			assert.Contains(t, <-events.Events, row.event)
		})
	}
}
