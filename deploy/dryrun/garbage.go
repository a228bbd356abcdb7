package dryrun

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// garbageCollector is the field manager of what garbage collection changes, as in a real cluster.
const garbageCollector = "kube-controller-manager"

// collect is the garbage collection of one object: it is deleted when all of its owners are
// gone or go before it, and loses its references to those when others remain. The lock is held.
func (c *Cluster) collect(at address) {
	obj := c.storage.get(at)
	if obj == nil {
		return
	}
	owners := obj.GetOwnerReferences()
	lost, waiting := 0, 0
	for _, owner := range owners {
		switch {
		case c.ownerGone(at, owner):
			lost++
		case c.ownerWaits(owner):
			waiting++
		}
	}
	switch {
	case lost+waiting == 0:
	case lost+waiting < len(owners):
		c.part(at, func(owner metav1.OwnerReference) bool { return c.ownerGone(at, owner) || c.ownerWaits(owner) })
	case waiting > 0 && len(c.storage.dependents[obj.GetUID()]) > 0:
		c.terminate(at, obj, metav1.DeletePropagationForeground)
	default:
		c.terminate(at, obj, metav1.DeletePropagationBackground)
	}
}

// ownerGone tells whether an owner was in the cluster and isn't any more; if that was asked
// for, also whether it never was.
func (c *Cluster) ownerGone(at address, owner metav1.OwnerReference) bool {
	if _, gone := c.storage.gone[owner.UID]; gone || !c.collectUnknown {
		return gone
	}
	found, ok := c.storage.owners[owner.UID]
	return !ok || found.namespace != "" && found.namespace != at.namespace
}

// ownerWaits tells whether an owner is deleted in the foreground.
func (c *Cluster) ownerWaits(owner metav1.OwnerReference) bool {
	at, ok := c.storage.owners[owner.UID]
	return ok && c.inForeground(c.storage.get(at))
}

// part removes from an object the references to the owners that are meant. The lock is held.
func (c *Cluster) part(at address, meant func(metav1.OwnerReference) bool) {
	live := c.storage.get(at)
	next := live.DeepCopy()
	next.SetOwnerReferences(slices.DeleteFunc(live.GetOwnerReferences(), meant))
	tidy(metadataOf(next))
	c.store(at, live, c.byController(live, next))
}

// byController is next as a controller of the cluster has made it of live.
func (c *Cluster) byController(live, next *unstructured.Unstructured) *unstructured.Unstructured {
	if managed, err := c.attributed(live, next, garbageCollector, ""); err == nil {
		// Fields that can't be tracked are no reason to leave it undone.
		next = managed
	}
	c.stampManagers(live, next)
	return next
}

// attributed is next with the fields that changed attributed to manager.
func (c *Cluster) attributed(live, next *unstructured.Unstructured, manager, subresource string) (*unstructured.Unstructured, error) {
	d, err := c.kinds.of(live.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return c.attribute(d, deploy.RefOf(live), live.DeepCopy(), next.DeepCopy(), manager, subresource)
}
