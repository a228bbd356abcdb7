package provisioner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Annotations by which Kubernetes' own components and provisioners understand each other.
const (
	// forProvisioner is set on a claim by the controller-manager: the provisioner that has to provide its volume.
	forProvisioner = "volume.kubernetes.io/storage-provisioner"
	// selectedNode is set on a claim by the scheduler: the node on which its first Pod will run.
	selectedNode = "volume.kubernetes.io/selected-node"
	// oldClass is the storage class of a claim from before the field storageClassName, over which it has precedence.
	oldClass = "volume.beta.kubernetes.io/storage-class"
)

// provision creates the volume of a claim that has none, once the controller-manager asks for it. For a class that
// waits for the first consumer it also takes the scheduler, which selects the node.
func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil || claim.Annotations[forProvisioner] != p.name {
		return nil
	}
	class, err := p.client.StorageV1().StorageClasses().Get(ctx, className(claim), metav1.GetOptions{})
	if err != nil {
		return err
	}
	nodes := anyNode()
	if waitsForConsumer(class) {
		name := claim.Annotations[selectedNode]
		if name == "" {
			return nil
		}
		node, err := p.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return p.reschedule(ctx, claim)
		}
		if err != nil {
			return err
		}
		if nodes, err = onlyOn(node); err != nil {
			p.report(claim, err)
			return err // retried: no event of the claim follows when somebody sets the label
		}
	}
	if claim.Spec.Selector != nil {
		return p.fail(claim, errors.New("a claim with a selector is bound only to a volume that exists: create one, or delete the claim and create it again without spec.selector"))
	}
	volume := newVolume(p.name, claim, class, nodes)
	switch _, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); {
	case apierrors.IsAlreadyExists(err):
		return nil // the claim was read from the cache before it was bound
	case apierrors.IsInvalid(err):
		return p.fail(claim, err)
	case err != nil:
		return err
	}
	p.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s", volume.Name)
	return nil
}

func className(claim *corev1.PersistentVolumeClaim) string {
	if class := claim.Annotations[oldClass]; class != "" || claim.Spec.StorageClassName == nil {
		return class
	}
	return *claim.Spec.StorageClassName
}

func waitsForConsumer(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// fail reports why a claim gets no volume. There is no retry before the claim changes, since it would fail again.
func (p *provisioner) fail(claim *corev1.PersistentVolumeClaim, err error) error {
	p.report(claim, err)
	return nil
}

// report says in an event of the claim why it gets no volume.
func (p *provisioner) report(claim *corev1.PersistentVolumeClaim, err error) {
	p.events.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", err.Error())
}

// reschedule has the scheduler select another node, because the selected one is gone.
func (p *provisioner) reschedule(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	return p.patchClaim(ctx, claim, "", map[string]any{"metadata": map[string]any{
		"resourceVersion": claim.ResourceVersion, "annotations": map[string]any{selectedNode: nil},
	}})
}

// expand makes the volume of a bound claim as large as the claim wants, and says so in the status of the claim. The API
// server has checked that the class allows it.
func (p *provisioner) expand(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return ignoreNotFound(err)
	}
	if claim.Status.Phase != corev1.ClaimBound || volume.Annotations[provisionedBy] != p.name {
		return nil
	}
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	capacity := map[string]any{"capacity": map[string]any{"storage": wanted.String()}}
	if volume.Spec.Capacity.Storage().Cmp(wanted) < 0 {
		body, err := json.Marshal(map[string]any{"spec": capacity})
		if err != nil {
			return err
		}
		if _, err := p.client.CoreV1().PersistentVolumes().Patch(ctx, volume.Name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("expand volume %s: %w", volume.Name, err)
		}
	}
	if claim.Status.Capacity.Storage().Cmp(wanted) < 0 {
		return p.patchClaim(ctx, claim, "status", map[string]any{"status": capacity})
	}
	return nil
}

// patchClaim merges a change into a claim, or into its subresource. A claim that is gone is no error.
func (p *provisioner) patchClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, subresource string, change map[string]any) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	var subresources []string
	if subresource != "" {
		subresources = []string{subresource}
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return ignoreNotFound(err)
}
