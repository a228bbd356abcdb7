package cluster

import (
	"context"
	"fmt"
)

// Flags of the controller-manager that Kubernetes' own doesn't have: the name of the provisioner, and its kubeconfig.
const (
	ProvisionerFlag           = "volume-provisioner"
	ProvisionerKubeconfigFlag = "volume-provisioner-kubeconfig"
)

const (
	provisionerName       = "operkit.dev/devcluster"
	provisionerUser       = "provisioner"
	provisionerKubeconfig = "provisioner.kubeconfig"

	classesPath = "/apis/storage.k8s.io/v1/storageclasses"
)

// storageClasses returns the classes whose volumes the provisioner provides. The default one is called and binds as in
// kind, minikube and most clusters in clouds.
func storageClasses() []map[string]any {
	return []map[string]any{
		storageClass("standard", "WaitForFirstConsumer", map[string]any{"storageclass.kubernetes.io/is-default-class": "true"}),
		storageClass("immediate", "Immediate", nil),
	}
}

func storageClass(name, binding string, annotations map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
		"metadata":    map[string]any{"name": name, "annotations": annotations},
		"provisioner": provisionerName, "volumeBindingMode": binding, "reclaimPolicy": "Delete", "allowVolumeExpansion": true,
	}
}

// createStorageClasses creates the classes.
func (c *Cluster) createStorageClasses(ctx context.Context) error {
	for _, class := range storageClasses() {
		if err := c.client.Create(ctx, classesPath, class, nil); err != nil {
			return fmt.Errorf("StorageClass: %w", err)
		}
	}
	return nil
}
