package deploytest

import (
	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// owner creates a ConfigMap that serves as the owner of other objects.
func (s *scene) owner(name string) *unstructured.Unstructured {
	s.Helper()
	return s.create("somebody", s.config(name, "{}"))
}

// ownersOf returns the uids of the owners of an object.
func ownersOf(obj *unstructured.Unstructured) []types.UID {
	return each(obj.GetOwnerReferences(), func(reference metav1.OwnerReference) types.UID { return reference.UID })
}

// elsewhere creates another namespace, and returns a function that deletes it.
func (s *scene) elsewhere() (name string, remove func()) {
	s.Helper()
	name = s.Namespace + "-y"
	made := s.others().create("operkit", s.unplaced("{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"))
	return name, func() { s.others().delete(deploy.RefOf(made)) }
}

var ownerCases = []Case{
	{"owners/reference", "an applied object references its owner, and may have other owners", func(s *scene) {
		owner := s.owner("owner")
		m, calls := s.manager(deploy.OwnedBy(owner))
		manifest := s.settings("{a: '1'}")
		manifest.SetNamespace("")
		obj := s.becomes(deploy.Created, m, manifest).Object
		s.asked(calls, "apply ConfigMap settings")
		yes := true
		equal(s, []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.GetUID(), BlockOwnerDeletion: &yes}}, obj.GetOwnerReferences(), "owners")
		equal(s, s.Namespace, obj.GetNamespace(), "namespace, want the owner's")
		s.settles(manifest, deploy.OwnedBy(owner))
	}},
	{"owners/controlled", "an object that somebody else created with the owner as its controller is found on request, and can be adopted and deleted", func(s *scene) {
		s.watch(configMap)
		owner := s.owner("owner")
		m := s.managerOf(s.Cluster, deploy.OwnedBy(owner), deploy.AsController())
		given := s.settings("{a: '1'}")
		given.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, configMap)})
		ref := deploy.RefOf(s.others().create("kubectl", given))
		s.eventually(func() bool { return s.seen(ref) != nil }, "the View shows the object")
		found := func(options ...deploy.Option) []string {
			owned, err := m.Owned(s.Context(), []schema.GroupVersionKind{configMap}, nil, options...)
			s.ok(err)
			return names(owned)
		}
		equal(s, []string{}, found(), "objects that the manager has applied")
		equal(s, []string{"settings"}, found(deploy.ControlledToo()), "objects that the owner controls")
		s.becomes(deploy.Configured, m, s.settings("{b: '2'}"))
		equal(s, []string{"settings"}, found(), "objects that the manager has applied")
		results, err := m.Delete(s.Context(), []*unstructured.Unstructured{s.get(ref)})
		s.ok(err)
		equal(s, deploy.Removed, results[0].Action, "action")
		equal(s, []string{}, found(deploy.ControlledToo()), "objects that the owner controls")
	}},
	{"owners/go", "objects applied for an owner are deleted with it", func(s *scene) {
		owner := s.owner("owner")
		_, _, made := s.managing(s.settings("{a: '1'}"), deploy.OwnedBy(owner))
		s.delete(deploy.RefOf(owner))
		s.goes(deploy.RefOf(made))
	}},
	{"owners/reference taken off", "a removed owner reference is drift, like any other removed field", func(s *scene) {
		owner := s.owner("owner")
		m, _, made := s.managing(s.settings("{a: '1'}"), deploy.OwnedBy(owner))
		s.merge("kubectl", deploy.RefOf(made), `{"metadata":{"ownerReferences":null}}`)
		obj := s.becomes(deploy.Configured, m, s.settings("{a: '1'}")).Object
		equal(s, []types.UID{owner.GetUID()}, ownersOf(obj), "owners")
	}},
	{"owners/no adoption", "an existing object of somebody else is left as it is", func(s *scene) {
		before := s.create("kubectl", s.settings("{a: '1'}"))
		m, calls := s.manager(deploy.OwnedBy(s.owner("owner")))
		calls.take()
		result := s.becomes(deploy.Conflicted, m, s.settings("{a: '1', b: '2'}"))
		equal(s, "", fails[*deploy.OwnedError](s, result.Err).Owner, "Owner of the error")
		s.asked(calls)
		results := s.removes(m, []*unstructured.Unstructured{s.settings("{}")}, []deploy.Action{deploy.Conflicted})
		s.is(fails[*deploy.OwnedError](s, results[0].Err).Deletion, "Deletion is false")
		s.asked(calls)
		s.unchanged(before, s.get(result.Ref))
	}},
	{"owners/adoption of what is nobody's", "only an object without an owner may be adopted", func(s *scene) {
		one, two := s.owner("one"), s.owner("two")
		s.create("kubectl", s.settings("{a: '1'}"))
		m, calls := s.manager(deploy.OwnedBy(one), deploy.Adopt(deploy.AdoptUnowned))
		s.removes(m, []*unstructured.Unstructured{s.settings("{}")}, []deploy.Action{deploy.Conflicted})
		s.asked(calls)
		obj := s.becomes(deploy.Configured, m, s.settings("{a: '1', b: '2'}")).Object
		equal(s, []types.UID{one.GetUID()}, ownersOf(obj), "owners")
		m, _ = s.manager(deploy.OwnedBy(two), deploy.Adopt(deploy.AdoptUnowned), deploy.FieldManager("two"))
		fails[*deploy.OwnedError](s, s.becomes(deploy.Conflicted, m, s.settings("{a: '1'}")).Err)
	}},
	{"owners/two", "two owners can share an object without endless writes", func(s *scene) {
		one, two := s.owner("one"), s.owner("two")
		options := func(owner *unstructured.Unstructured) []deploy.Option {
			return []deploy.Option{deploy.OwnedBy(owner), deploy.Adopt(deploy.AdoptAlways)}
		}
		first, _ := s.manager(options(one)...)
		second, _ := s.manager(options(two)...)
		s.becomes(deploy.Created, first, s.settings("{a: '1'}"))
		obj := s.becomes(deploy.Configured, second, s.settings("{b: '2'}")).Object
		equal(s, []types.UID{one.GetUID(), two.GetUID()}, ownersOf(obj), "owners")
		s.settles(s.settings("{a: '1'}"), options(one)...)
		s.settles(s.settings("{b: '2'}"), options(two)...)
		s.delete(deploy.RefOf(one))
		s.eventually(func() bool { return len(s.get(deploy.RefOf(obj)).GetOwnerReferences()) == 1 }, "the reference to the deleted owner is removed")
	}},
	{"owners/controller", "an object has at most one controller", func(s *scene) {
		one, two := s.owner("one"), s.owner("two")
		_, _, obj := s.managing(s.settings("{a: '1'}"), deploy.OwnedBy(one), deploy.AsController())
		s.is(metav1.IsControlledBy(obj, one), "owners: %v", obj.GetOwnerReferences())
		m, _ := s.manager(deploy.OwnedBy(two), deploy.AsController(), deploy.Adopt(deploy.AdoptAlways), deploy.FieldManager("two"))
		fails[*deploy.OwnedError](s, s.becomes(deploy.Conflicted, m, s.settings("{b: '2'}")).Err)
	}},
	{"owners/first by others", "an object that somebody else created meanwhile isn't changed", func(s *scene) {
		before := s.create("kubectl", s.settings("{a: '1'}"))
		owner := s.owner("owner")
		blind := &recorder{Cluster: s.Cluster, blind: true}
		result := s.becomes(deploy.Conflicted, s.managerOf(blind, deploy.OwnedBy(owner)), s.settings("{a: '1', b: '2'}"))
		fails[*deploy.OwnedError](s, result.Err)
		s.asked(blind, "apply ConfigMap settings", "apply ConfigMap settings")
		after := s.get(result.Ref)
		equal(s, data(before), data(after), "data")
		equal(s, 0, len(after.GetOwnerReferences()), "owners")
		equal(s, []string{"kubectl Update"}, entries(after), "entries")
	}},
	{"owners/by label", "an object that can't reference its owner carries a label, its result has ByLabel, and the label finds the object", byLabel},
}

func byLabel(s *scene) {
	other, remove := s.elsewhere()
	defer remove()
	owner := s.owner("owner")
	r := &recorder{Cluster: s.Others}
	m := s.managerOf(r, deploy.OwnedBy(owner))
	obj := in(other, s.config("far", "{a: '1'}"))
	fails[*deploy.InvalidManifestError](s, s.becomes(deploy.Failed, m, obj).Err)
	s.asked(r)
	result := s.becomes(deploy.Created, m, obj, deploy.OwnedByLabel())
	s.is(result.ByLabel, "ByLabel is false")
	equal(s, 0, len(result.Object.GetOwnerReferences()), "owners")
	s.becomes(deploy.Unchanged, m, obj, deploy.OwnedByLabel())
	tracked, err := m.Tracked(s.Context(), []schema.GroupVersionKind{nothing, configMap})
	s.ok(err)
	equal(s, []string{"far"}, names(tracked), "objects found")
	s.removes(m, tracked, []deploy.Action{deploy.Removed})
}

// ownedBy returns a copy of obj with added references to owners.
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
	{"garbage/of a deleted owner", "dependents are deleted with their owner", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), owner))
		grandchild := s.create("operkit", ownedBy(s.config("grandchild", "{}"), child))
		s.delete(deploy.RefOf(owner))
		s.goes(deploy.RefOf(child))
		s.goes(deploy.RefOf(grandchild))
	}},
	{"garbage/of one of two owners", "a shared dependent stays with the other owner", func(s *scene) {
		one, two := s.create("operkit", s.config("one", "{}")), s.create("operkit", s.config("two", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), one, two))
		s.delete(deploy.RefOf(one))
		s.eventually(func() bool { return len(s.get(deploy.RefOf(child)).GetOwnerReferences()) == 1 }, "the reference to the deleted owner is removed")
		equal(s, two.GetUID(), s.get(deploy.RefOf(child)).GetOwnerReferences()[0].UID, "the owner that remains")
		s.delete(deploy.RefOf(two))
		s.goes(deploy.RefOf(child))
	}},
	{"garbage/orphaned", "dependents can be kept", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		child := s.create("operkit", ownedBy(s.config("child", "{}"), owner))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(owner), deploy.DeleteOptions{Propagation: metav1.DeletePropagationOrphan}))
		s.goes(deploy.RefOf(owner))
		left := s.get(deploy.RefOf(child))
		equal(s, child.GetUID(), left.GetUID(), "uid of the child")
		equal(s, 0, len(left.GetOwnerReferences()), "owner references")
	}},
	{"garbage/in the foreground", "the deletion of an owner waits for dependents that block it", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		manifest := ownedBy(s.config("child", "{}"), owner)
		references := manifest.GetOwnerReferences()
		block := true
		references[0].BlockOwnerDeletion = &block
		manifest.SetOwnerReferences(references)
		child := s.create("operkit", finalized(manifest))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(owner), deploy.DeleteOptions{Propagation: metav1.DeletePropagationForeground}))
		s.eventually(func() bool { return s.get(deploy.RefOf(child)).GetDeletionTimestamp() != nil }, "the child is being deleted")
		equal(s, []string{metav1.FinalizerDeleteDependents}, s.get(deploy.RefOf(owner)).GetFinalizers(), "finalizers of the owner")
		s.merge("operkit", deploy.RefOf(child), `{"metadata":{"finalizers":null}}`)
		s.goes(deploy.RefOf(child))
		s.goes(deploy.RefOf(owner))
	}},
	{"garbage/by default", "the deletion of an owner doesn't wait for its dependents", func(s *scene) {
		owner := s.create("operkit", s.config("owner", "{}"))
		child := s.create("operkit", finalized(ownedBy(s.config("child", "{}"), owner)))
		s.delete(deploy.RefOf(owner))
		s.absent(deploy.RefOf(owner))
		s.eventually(func() bool { return s.get(deploy.RefOf(child)).GetDeletionTimestamp() != nil }, "the child is being deleted")
		s.merge("operkit", deploy.RefOf(child), `{"metadata":{"finalizers":null}}`)
		s.goes(deploy.RefOf(child))
	}},
}
