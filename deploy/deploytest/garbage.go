package deploytest

import (
	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ownedBy is obj with references to owners.
func ownedBy(obj *unstructured.Unstructured, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	references := obj.GetOwnerReferences()
	for _, owner := range owners {
		references = append(references, metav1.OwnerReference{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		})
	}
	obj.SetOwnerReferences(references)
	return obj
}

// goes waits until an object is gone.
func (s *scene) goes(ref deploy.Ref) {
	s.Helper()
	s.eventually(func() bool {
		obj, err := s.port().Get(s.Context(), ref)
		s.ok(err)
		return obj == nil
	}, ref.String()+" is gone")
}

var garbageCases = []Case{
	{"garbage/of a deleted owner", "children go with their owner", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), owner))
		grandchild := s.create("operkit", ownedBy(s.config("grandchild", "{}"), child))
		s.delete(deploy.RefOf(owner))
		s.goes(deploy.RefOf(child))
		s.goes(deploy.RefOf(grandchild))
	}},
	{"garbage/of one of two owners", "a shared child stays with the other one", func(s *scene) {
		one, two := s.create("operkit", s.config("one", "{}")), s.create("operkit", s.config("two", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), one, two))
		s.delete(deploy.RefOf(one))
		s.eventually(func() bool { return len(s.get(deploy.RefOf(child)).GetOwnerReferences()) == 1 }, "the reference to the deleted owner goes")
		equal(s, two.GetUID(), s.get(deploy.RefOf(child)).GetOwnerReferences()[0].UID, "the owner that remains")
		s.delete(deploy.RefOf(two))
		s.goes(deploy.RefOf(child))
	}},
	{"garbage/orphaned", "children may be left behind", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), owner))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(owner), deploy.DeleteOptions{Propagation: metav1.DeletePropagationOrphan}))
		s.goes(deploy.RefOf(owner))
		left := s.get(deploy.RefOf(child))
		equal(s, child.GetUID(), left.GetUID(), "uid of the child")
		equal(s, 0, len(left.GetOwnerReferences()), "owner references")
	}},
	{"garbage/in the foreground", "the owner waits for children that block it", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		manifest := ownedBy(s.config("child", "{}"), owner)
		references := manifest.GetOwnerReferences()
		block := true
		references[0].BlockOwnerDeletion = &block
		manifest.SetOwnerReferences(references)
		manifest.SetFinalizers([]string{"operkit.dev/a"})
		child := s.create("operkit", manifest)
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(owner), deploy.DeleteOptions{Propagation: metav1.DeletePropagationForeground}))
		s.eventually(func() bool { return s.get(deploy.RefOf(child)).GetDeletionTimestamp() != nil }, "the child is being deleted")
		equal(s, []string{metav1.FinalizerDeleteDependents}, s.get(deploy.RefOf(owner)).GetFinalizers(), "finalizers of the owner")
		s.merge("operkit", deploy.RefOf(child), `{"metadata":{"finalizers":null}}`)
		s.goes(deploy.RefOf(child))
		s.goes(deploy.RefOf(owner))
	}},
	{"garbage/by default", "the owner doesn't wait for its children", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		manifest := ownedBy(s.config("child", "{}"), owner)
		manifest.SetFinalizers([]string{"operkit.dev/a"})
		child := s.create("operkit", manifest)
		s.delete(deploy.RefOf(owner))
		s.absent(deploy.RefOf(owner))
		s.eventually(func() bool { return s.get(deploy.RefOf(child)).GetDeletionTimestamp() != nil }, "the child is being deleted")
		s.merge("operkit", deploy.RefOf(child), `{"metadata":{"finalizers":null}}`)
		s.goes(deploy.RefOf(child))
	}},
}
