package dryrun

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// garbageCollector is the field manager of what garbage collection changes, as in a real cluster.
const garbageCollector = "kube-controller-manager"

// terminate deletes live, or marks it while finalizers hold it. What is marked already stays
// as it is. The lock is held.
func (c *Cluster) terminate(at address, live *unstructured.Unstructured) {
	if len(live.GetFinalizers()) == 0 {
		c.remove(at, live.DeepCopy())
		return
	}
	if live.GetDeletionTimestamp() != nil {
		return
	}
	next := live.DeepCopy()
	metadata := metadataOf(next)
	metadata["deletionTimestamp"] = c.timestamp()
	metadata["deletionGracePeriodSeconds"] = int64(0)
	metadata["generation"] = live.GetGeneration() + 1
	c.store(at, live, next)
}

// remove takes an object out, tells the subscribers, and collects what it owned. last is
// its last state and becomes the storage's. The lock is held.
func (c *Cluster) remove(at address, last *unstructured.Unstructured) {
	c.storage.remove(at, last)
	c.publish(at, deploy.Event{Type: deploy.Deleted, Old: last, New: last})
	for _, dependent := range c.storage.dependentsOf(last.GetUID()) {
		c.collect(dependent)
	}
}

// collect is the garbage collection of one object: it is deleted when all of its owners are
// gone, and loses its references to those that are gone when others remain. The lock is held.
func (c *Cluster) collect(at address) {
	obj := c.storage.get(at)
	if obj == nil {
		return
	}
	owners := obj.GetOwnerReferences()
	remaining := slices.DeleteFunc(slices.Clone(owners), func(owner metav1.OwnerReference) bool {
		_, gone := c.storage.gone[owner.UID]
		return gone
	})
	switch len(remaining) {
	case len(owners):
	case 0:
		c.terminate(at, obj)
	default:
		c.dropOwners(at, obj, remaining)
	}
}

func (c *Cluster) dropOwners(at address, live *unstructured.Unstructured, remaining []metav1.OwnerReference) {
	next := live.DeepCopy()
	next.SetOwnerReferences(remaining)
	if managed, err := c.attributed(live, next, garbageCollector); err == nil {
		// Fields that can't be tracked are no reason to keep a reference to nobody.
		next = managed
	}
	c.stampManagers(live, next)
	c.store(at, live, next)
}

// attributed is next with the fields that changed attributed to manager.
func (c *Cluster) attributed(live, next *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	fields, err := c.fields.of(live.GroupVersionKind(), "")
	if err != nil {
		return nil, err
	}
	managed, err := fields.Update(live.DeepCopy(), next.DeepCopy(), manager)
	if err != nil {
		return nil, err
	}
	return plain(managed)
}
