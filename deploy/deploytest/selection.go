package deploytest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SelectedKind is the kind of which a World shows only some objects, see World.Selects.
var SelectedKind = schema.GroupKind{Group: "deploytest.operkit.dev", Kind: "Pick"}

// Selector returns the selector for objects of SelectedKind.
func Selector() labels.Selector { return labels.SelectorFromSet(labels.Set{"tier": "web"}) }

const selectionGroup = "selection/"

var pick = SelectedKind.WithVersion("v1")

const pickDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: picks.deploytest.operkit.dev}
spec:
  group: deploytest.operkit.dev
  scope: Namespaced
  names: {kind: Pick, listKind: PickList, plural: picks, singular: pick}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
`

// picks makes the cluster serve the kind Pick.
func (s *scene) picks() {
	s.Helper()
	s.serve(pick, pickDefinition)
}

// pick returns a Pick. An empty tier means no label.
func (s *scene) pick(name, tier string) *unstructured.Unstructured {
	s.Helper()
	obj := s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Pick, metadata: {name: " + name + "}}")
	if tier != "" {
		obj.SetLabels(map[string]string{"tier": tier})
	}
	return obj
}

// relabel sets the label of a Pick, as another client.
func (s *scene) relabel(obj *unstructured.Unstructured, tier string) {
	s.Helper()
	s.others().merge("kubectl", deploy.RefOf(obj), tierPatch(tier))
}

func tierPatch(tier string) string { return `{"metadata":{"labels":{"tier":"` + tier + `"}}}` }

// picked returns the names of the Picks that the View lists.
func (s *scene) picked() []string {
	s.Helper()
	found, err := s.Cluster.View().List(s.Context(), pick, s.Namespace, nil)
	s.ok(err)
	return names(found)
}

var selectionCases = []Case{
	{selectionGroup + "reads", "a list has the selected objects only, and every object can be read by its name, watched or not", func(s *scene) {
		s.picks()
		web, db := s.others().create("kubectl", s.pick("web", "web")), s.others().create("kubectl", s.pick("db", "db"))
		for range 2 {
			equal(s, []string{"web"}, s.picked(), "names")
			for _, obj := range []*unstructured.Unstructured{web, db} {
				equal(s, held(obj), held(s.seen(deploy.RefOf(obj))), "object in the View")
			}
			s.is(s.seen(deploy.RefOf(s.pick("none", ""))) == nil, "an absent object is shown")
			s.watch(pick)
		}
	}},
	{selectionGroup + "leaves and is back", "an object that loses its label has left, because it still exists", func(s *scene) {
		s.picks()
		h := s.subscribe(pick)
		obj := s.others().create("kubectl", s.pick("one", "web"))
		s.delivers(h, "ADDED one")
		s.relabel(obj, "db")
		s.delivers(h, "ADDED one", "LEFT one")
		last := h.all()[1]
		equal(s, obj.GetUID(), last.New.GetUID(), "uid in the event")
		equal(s, "web", last.Old.GetLabels()["tier"], "label in Old, the last known state")
		equal(s, []string{}, s.picked(), "names")
		equal(s, "db", s.seen(deploy.RefOf(obj)).GetLabels()["tier"], "label in the View")
		s.relabel(obj, "web")
		s.delivers(h, "ADDED one", "LEFT one", "ADDED one")
		equal(s, []string{"one"}, s.picked(), "names")
	}},
	{selectionGroup + "deleted", "an object that is gone is deleted, and one that had left before causes no event", func(s *scene) {
		s.picks()
		h := s.subscribe(pick)
		one, two := s.others().create("kubectl", s.pick("one", "web")), s.others().create("kubectl", s.pick("two", "web"))
		s.delivers(h, "ADDED one", "ADDED two")
		s.relabel(one, "db")
		s.delivers(h, "ADDED one", "ADDED two", "LEFT one")
		s.others().delete(deploy.RefOf(one))
		s.others().delete(deploy.RefOf(two))
		s.delivers(h, "ADDED one", "ADDED two", "LEFT one", "DELETED two")
	}},
	{selectionGroup + "another object of the name", "an object isn't still there because another object has its name", func(s *scene) {
		s.picks()
		h := s.subscribe(pick)
		first := s.others().create("kubectl", s.pick("one", "web"))
		s.delivers(h, "ADDED one")
		s.others().delete(deploy.RefOf(first))
		s.others().create("kubectl", s.pick("one", "db"))
		s.delivers(h, "ADDED one", "DELETED one")
		s.others().create("kubectl", s.pick("last", "web"))
		s.delivers(h, "ADDED one", "DELETED one", "ADDED last")
	}},
	{selectionGroup + "own writes", "an own write that takes or gives the label shows at once", func(s *scene) {
		s.picks()
		h := s.subscribe(pick)
		ref := deploy.RefOf(s.create("operkit", s.pick("one", "web")))
		for range 5 {
			equal(s, []string{"one"}, s.picked(), "names with the label")
			s.merge("operkit", ref, tierPatch("db"))
			equal(s, []string{}, s.picked(), "names without the label")
			equal(s, "db", s.seen(ref).GetLabels()["tier"], "label in the View")
			s.merge("operkit", ref, tierPatch("web"))
		}
		s.delete(ref)
		equal(s, []string{}, s.picked(), "names after the deletion")
		s.is(s.seen(ref) == nil, "the View shows the object after its deletion")
		s.eventually(func() bool { return slices.Contains(h.texts(), "DELETED one") }, "the deletion is delivered")
	}},
	{selectionGroup + "creation", "an object that the View would never show isn't created", func(s *scene) {
		s.picks()
		s.watch(pick)
		refusal[*deploy.InvalidManifestError](s, s.port().Create, s.pick("one", ""), deploy.CreateOptions{FieldManager: "operkit"})
		refusal[*deploy.InvalidManifestError](s, s.port().Apply, s.pick("one", "db"), asOperkit)
		s.absent(deploy.RefOf(s.pick("one", "")))
		existing := s.others().create("kubectl", s.pick("one", "db"))
		bare := s.pick("one", "")
		bare.SetUID(existing.GetUID())
		s.apply("operkit", bare)
		s.apply("operkit", s.pick("two", "web"))
		equal(s, []string{"two"}, s.picked(), "names")
	}},
	{selectionGroup + "manager", "a Manager applies selected objects as it applies any objects", func(s *scene) {
		s.picks()
		s.watch(pick)
		m := s.managerOf(s.Cluster)
		for _, want := range []deploy.Action{deploy.Created, deploy.Unchanged} {
			results, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.pick("one", "web")})
			s.ok(err)
			equal(s, want, results[0].Action, "action")
		}
		ref := deploy.RefOf(s.pick("one", ""))
		s.others().patch(ref, merging("kubectl", `{"metadata":{"labels":{"tier":null}}}`))
		s.eventually(func() bool { return len(s.picked()) == 0 }, "the object has left")
		results, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.pick("one", "web")})
		s.ok(err)
		equal(s, deploy.Configured, results[0].Action, "action after the label was lost")
		equal(s, []string{"one"}, s.picked(), "names")
	}},
	{selectionGroup + "owner", "the objects of an owner are those that are selected", func(s *scene) {
		s.picks()
		s.watch(pick)
		owner := s.create("operkit", s.settings("{}"))
		m := s.managerOf(s.Cluster, deploy.OwnedBy(owner))
		_, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.pick("one", "web"), s.pick("two", "web")})
		s.ok(err)
		s.relabel(s.pick("two", ""), "db")
		s.eventually(func() bool { return len(s.picked()) == 1 }, "one object has left")
		owned, err := m.Owned(s.Context(), []schema.GroupVersionKind{pick}, nil)
		s.ok(err)
		equal(s, []string{"one"}, names(owned), "names of owned objects")
	}},
}
