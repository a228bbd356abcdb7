package dryrun

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// terminate deletes live. If finalizers or contents of live block the deletion, or dependents that a foreground or
// orphan deletion handles first, terminate only marks live as being deleted. An object that is being deleted already
// isn't changed. The lock is held.
func (c *Cluster) terminate(at address, live *unstructured.Unstructured, propagation metav1.DeletionPropagation) {
	if live.GetDeletionTimestamp() != nil {
		return
	}
	next := c.marked(at, live, propagation)
	if len(next.GetFinalizers()) == 0 && c.empty(at) {
		c.remove(at)
		return
	}
	c.store(at, live, next)
	c.dissolve(at)
}

// marked returns live in the state in which its deletion has begun.
func (c *Cluster) marked(at address, live *unstructured.Unstructured, propagation metav1.DeletionPropagation) *unstructured.Unstructured {
	next := live.DeepCopy()
	metadata := metadataOf(next)
	metadata["deletionTimestamp"] = c.timestamp()
	metadata["deletionGracePeriodSeconds"] = int64(0)
	if live.GetGeneration() > 0 {
		metadata["generation"] = live.GetGeneration() + 1
	}
	switch propagation {
	case metav1.DeletePropagationForeground:
		next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerDeleteDependents))
	case metav1.DeletePropagationOrphan:
		next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	if at.kind == namespaceKind {
		next.Object["status"] = withField(mapAt(next.Object, "status"), "phase", "Terminating")
	}
	return next
}

// dissolve does the work of controllers for an object that is being deleted: it deletes the object's contents, and
// deletes or orphans its dependents. The lock is held.
func (c *Cluster) dissolve(at address) {
	for _, inside := range c.contents(at) {
		if obj := c.storage.get(inside); obj != nil {
			c.terminate(inside, obj, metav1.DeletePropagationBackground)
		}
	}
	obj := c.storage.get(at)
	if obj == nil {
		return
	}
	if slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		for _, dependent := range c.storage.dependentsOf(obj.GetUID()) {
			c.part(dependent, func(owner metav1.OwnerReference) bool { return owner.UID == obj.GetUID() })
		}
		c.dropFinalizer(at, metav1.FinalizerOrphanDependents)
	} else if slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		for _, dependent := range c.storage.dependentsOf(obj.GetUID()) {
			c.collect(dependent)
		}
		c.unblock(at)
	}
}

// unblock ends a foreground deletion if no dependent blocks it any more. The lock is held.
func (c *Cluster) unblock(at address) {
	obj := c.storage.get(at)
	if obj == nil || !c.inForeground(obj) {
		return
	}
	for _, dependent := range c.storage.dependentsOf(obj.GetUID()) {
		for _, owner := range c.storage.get(dependent).GetOwnerReferences() {
			if owner.UID == obj.GetUID() && owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion {
				return
			}
		}
	}
	c.dropFinalizer(at, metav1.FinalizerDeleteDependents)
}

func (c *Cluster) inForeground(obj *unstructured.Unstructured) bool {
	return obj.GetDeletionTimestamp() != nil && slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

func (c *Cluster) dropFinalizer(at address, finalizer string) {
	live := c.storage.get(at)
	if live == nil {
		return
	}
	next := live.DeepCopy()
	next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(name string) bool { return name == finalizer }))
	tidy(metadataOf(next))
	if len(next.GetFinalizers()) == 0 && c.empty(at) {
		c.remove(at)
		return
	}
	c.store(at, live, c.byController(live, next))
}

// remove deletes an object, publishes the event, runs the garbage collection for its dependents, and continues
// deletions that waited for the object. The event has the object as it was stored last, because the write that removes
// the last finalizer is never stored. remove returns this object, with the resourceVersion of the removal. The lock is
// held.
func (c *Cluster) remove(at address) (last *unstructured.Unstructured) {
	holders := c.containers(at)
	last = c.storage.get(at).DeepCopy()
	c.storage.remove(at, last)
	c.publish(at, deploy.Event{Type: deploy.Deleted, Old: last, New: last})
	if at.kind == definitionKind {
		c.undefine(last)
	}
	for _, dependent := range c.storage.dependentsOf(last.GetUID()) {
		c.collect(dependent)
	}
	c.unblockOwners(last)
	for _, holder := range holders {
		if obj := c.storage.get(holder); obj != nil && obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 && c.empty(holder) {
			c.remove(holder)
		}
	}
	return last
}

// unblockOwners calls unblock for each owner of an object that was removed or lost references.
func (c *Cluster) unblockOwners(before *unstructured.Unstructured) {
	for _, owner := range before.GetOwnerReferences() {
		if at, ok := c.storage.owners[owner.UID]; ok {
			c.unblock(at)
		}
	}
}

// garbageCollector is the field manager of the changes by garbage collection, as in a real cluster.
const garbageCollector = "kube-controller-manager"

// collect does the garbage collection for one object. It deletes the object if all its owners are gone or are being
// deleted in the foreground. If other owners remain, it only removes the references to the owners that are gone or
// being deleted. The lock is held.
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

// ownerGone reports whether an owner was in the cluster and is gone. With CollectUnknownOwners, it also returns true
// for an owner that never was in the cluster or is in another namespace.
func (c *Cluster) ownerGone(at address, owner metav1.OwnerReference) bool {
	if _, gone := c.storage.gone[owner.UID]; gone || !c.collectUnknown {
		return gone
	}
	found, ok := c.storage.owners[owner.UID]
	return !ok || found.namespace != "" && found.namespace != at.namespace
}

// ownerWaits reports whether an owner is being deleted in the foreground.
func (c *Cluster) ownerWaits(owner metav1.OwnerReference) bool {
	at, ok := c.storage.owners[owner.UID]
	return ok && c.inForeground(c.storage.get(at))
}

// part removes every owner reference for which meant returns true from an object. The lock is held.
func (c *Cluster) part(at address, meant func(metav1.OwnerReference) bool) {
	live := c.storage.get(at)
	next := live.DeepCopy()
	next.SetOwnerReferences(slices.DeleteFunc(live.GetOwnerReferences(), meant))
	tidy(metadataOf(next))
	c.store(at, live, c.byController(live, next))
}

// byController returns next with its changes attributed to the garbage collector.
func (c *Cluster) byController(live, next *unstructured.Unstructured) *unstructured.Unstructured {
	if managed, err := c.attributed(live, next, garbageCollector, ""); err == nil {
		// If the fields can't be attributed, the change is made nevertheless.
		next = managed
	}
	c.stampManagers(live, next)
	return next
}

// attributed returns next with the changed fields attributed to manager.
func (c *Cluster) attributed(live, next *unstructured.Unstructured, manager, subresource string) (*unstructured.Unstructured, error) {
	d, err := c.kinds.of(live.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return c.attribute(d, deploy.RefOf(live), live.DeepCopy(), next.DeepCopy(), manager, subresource)
}
