package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// nodeName is the only node's name.
const nodeName = "fake-0"

// Paths of the objects that exist when a cluster is ready.
const (
	nodePath    = "/api/v1/nodes"
	leasePath   = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + nodeName
	accountPath = "/api/v1/namespaces/default/serviceaccounts/default"
)

// fakeNode returns a node for which kwok acts as the kubelet.
func fakeNode() map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name":        nodeName,
			"annotations": map[string]any{"kwok.x-k8s.io/node": "fake"},
			"labels": map[string]any{
				"kubernetes.io/hostname": nodeName, "kubernetes.io/os": "linux",
				"kubernetes.io/arch": "amd64", "type": "kwok",
			},
		},
	}
}

// awaitFixtures waits for the objects that users of a new cluster rely on.
func (c *Cluster) awaitFixtures(ctx context.Context) error {
	if c.options.Components.Has(component.Kwok) {
		if err := c.await(ctx, "node "+nodeName, c.nodeReady); err != nil {
			return err
		}
	}
	if c.options.Components.Has(component.ControllerManager) {
		return c.await(ctx, "default ServiceAccount", func(ctx context.Context) error {
			return c.client.Get(ctx, accountPath, nil)
		})
	}
	return nil
}

// nodeReady checks that pods can be scheduled to the fake node. Without the controller-manager nobody removes the taint
// of new nodes.
func (c *Cluster) nodeReady(ctx context.Context) error {
	var node struct {
		Spec struct {
			Taints []struct{ Key string } `json:"taints"`
		} `json:"spec"`
		Status struct {
			Conditions []struct{ Type, Status string } `json:"conditions"`
		} `json:"status"`
	}
	if err := c.client.Get(ctx, nodePath+"/"+nodeName, &node); err != nil {
		return err
	}
	if len(node.Spec.Taints) > 0 && c.options.Components.Has(component.ControllerManager) {
		return fmt.Errorf("it has the taint %s", node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}
	return errors.New("it is not Ready")
}

// nodeLeased checks that kwok manages the fake node.
func (c *Cluster) nodeLeased(ctx context.Context) error {
	return c.client.Get(ctx, leasePath, nil)
}

// releaseNode removes the lease of an earlier kwok process. A new process has another identity, and would ignore the
// node until the lease has expired, 40 seconds later.
func (c *Cluster) releaseNode(ctx context.Context) error {
	if err := c.client.Delete(ctx, leasePath); err != nil && !api.IsNotFound(err) {
		return fmt.Errorf("lease of node %s: %w", nodeName, err)
	}
	return nil
}
