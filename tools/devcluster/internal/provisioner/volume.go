package provisioner

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// provisionedBy is the annotation of volumes with the name of the provisioner that has to delete them.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	// folder is where the volumes would be on a node. Nothing is there.
	folder = "/var/lib/devcluster/volumes/"
)

// newVolume returns the volume of a claim: as the claim wants it, of its class, to be had on these nodes.
func newVolume(provisioner string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, nodes *corev1.NodeSelector) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	reclaim := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: reclaim,
			MountOptions:                  class.MountOptions,
			StorageClassName:              class.Name,
			VolumeAttributesClassName:     claim.Spec.VolumeAttributesClassName,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: folder + name}},
			NodeAffinity:                  &corev1.VolumeNodeAffinity{Required: nodes},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
		},
	}
}

// onlyOn selects the node. A volume that waited for its first consumer is a disk of that node, so later Pods that use
// it have to run there.
func onlyOn(node *corev1.Node) (*corev1.NodeSelector, error) {
	name := node.Labels[corev1.LabelHostname]
	if name == "" {
		return nil, fmt.Errorf("node %s has no label %s: set it, so that a volume can be tied to the node", node.Name, corev1.LabelHostname)
	}
	return selector(corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}), nil
}

// anyNode selects every node. A volume that is bound before any Pod uses it is like storage in the network.
func anyNode() *corev1.NodeSelector {
	return selector(corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpExists})
}

func selector(requirement corev1.NodeSelectorRequirement) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}},
	}}
}

// reclaim deletes a volume whose claim is gone, if its reclaim policy is Delete.
func (p *provisioner) reclaim(ctx context.Context, volume *corev1.PersistentVolume) error {
	if volume.Annotations[provisionedBy] != p.name || volume.DeletionTimestamp != nil ||
		volume.Status.Phase != corev1.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	return ignoreNotFound(p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion},
	}))
}
