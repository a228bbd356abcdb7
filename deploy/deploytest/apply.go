package deploytest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var applyCases = []Case{
	{"apply/creates", "an apply can't require that the object is absent, so the result must have Created", func(s *scene) {
		applied, err := s.port().Apply(s.Context(), s.settings("{a: '1'}"), asOperkit)
		s.ok(err)
		s.is(applied.Created, "Created is false")
		equal(s, s.get(deploy.RefOf(applied.Object)).Object, applied.Object.Object, "the response")
		again, err := s.port().Apply(s.Context(), s.settings("{a: '2'}"), asOperkit)
		s.ok(err)
		s.is(!again.Created, "Created is true for an object that existed")
		equal(s, "2", data(again.Object)["a"], "a")
		s.changed(applied.Object, again.Object)
	}},
	{"apply/outdated", "a resourceVersion in the intent is a precondition", func(s *scene) {
		before := s.apply("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(before), `{"data":{"b":"2"}}`)
		intent := s.settings("{a: '3'}")
		intent.SetResourceVersion(before.GetResourceVersion())
		refusal[*deploy.StaleError](s, s.port().Apply, intent, asOperkit)
		equal(s, "1", data(s.get(deploy.RefOf(before)))["a"], "a")
	}},
	{"apply/other uid", "a new object of the same name isn't changed", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		intent := s.settings("{a: '2'}")
		intent.SetUID("0d6b1e3a-3a3e-4d8e-9f3e-6a5b0c1d2e3f")
		refusal[*deploy.StaleError](s, s.port().Apply, intent, asOperkit)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"apply/uid of what is gone", "a deleted object isn't created again", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		intent := s.settings("{a: '2'}")
		intent.SetUID(obj.GetUID())
		refusal[*deploy.StaleError](s, s.port().Apply, intent, asOperkit)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/its uid", "an intent with the uid of the object is applied", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		intent := s.settings("{a: '2'}")
		intent.SetUID(obj.GetUID())
		equal(s, "2", data(s.apply("operkit", intent))["a"], "a")
	}},
	{"apply/no manager", "every applied field needs a manager", func(s *scene) {
		refusal[*deploy.InvalidError](s, s.port().Apply, s.settings("{}"), deploy.ApplyOptions{})
	}},
	{"apply/managedFields", "an object that was read from a cluster isn't an intent", func(s *scene) {
		exported := s.apply("operkit", s.settings("{a: '1'}"))
		refusal[*deploy.InvalidError](s, s.port().Apply, exported, asOperkit)
	}},
	{"apply/unknown field", "a typo isn't ignored", func(s *scene) {
		obj := s.settings("{}")
		obj.Object["datum"] = map[string]any{"a": "1"}
		refusal[*deploy.InvalidError](s, s.port().Apply, obj, asOperkit)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/unknown field of a custom resource", "a typo isn't ignored in custom resources either", func(s *scene) {
		obj := s.widget("{size: 1, colour: red}")
		refusal[*deploy.InvalidError](s, s.port().Apply, obj, asOperkit)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/wrong type", "an intent that can't be merged is refused as a whole", func(s *scene) {
		obj := s.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: [a, b]}")
		refusal[*deploy.InvalidError](s, s.port().Apply, obj, asOperkit)
	}},
	{"apply/against the schema", "an intent that violates the schema changes nothing", func(s *scene) {
		before := s.apply("operkit", s.widget("{size: 1}"))
		refusal[*deploy.InvalidError](s, s.port().Apply, s.widget("{size: -1}"), asOperkit)
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"apply/dry run of a new object", "a dry run stores nothing", func(s *scene) {
		applied, err := s.port().Apply(s.Context(), s.settings("{a: '1'}"), dryAsOperkit)
		s.ok(err)
		s.is(applied.Created, "Created is false")
		s.absent(deploy.RefOf(applied.Object))
	}},
	{"apply/dry run of a change", "a diff needs the whole object from a dry run", func(s *scene) {
		before := s.apply("operkit", s.settings("{a: '1'}"))
		applied := s.send(s.settings("{a: '2', b: '3'}"), dryAsOperkit)
		equal(s, map[string]string{"a": "2", "b": "3"}, data(applied), "data of the response")
		equal(s, []string{".data.a", ".data.b"}, s.owned(applied, "operkit Apply"), "fields of the response")
		equal(s, before.Object, s.get(deploy.RefOf(before)).Object, "the stored object")
	}},
	{"apply/dry run of a conflict", "a dry run returns the conflict that the apply would return", func(s *scene) {
		s.apply("kubectl", s.settings("{a: '1'}"))
		refusal[*deploy.ConflictError](s, s.port().Apply, s.settings("{a: '2'}"), dryAsOperkit)
	}},
	{"apply/generation", "only a change of the spec raises the generation", func(s *scene) {
		equal(s, int64(1), s.apply("operkit", s.widget("{size: 1}")).GetGeneration(), "generation of a new object")
		intent := labelled(s.widget("{size: 1}"), "a", "b")
		equal(s, int64(1), s.apply("operkit", intent).GetGeneration(), "generation after a change of metadata")
		equal(s, int64(2), s.apply("operkit", s.widget("{size: 2}")).GetGeneration(), "generation after a change of the spec")
	}},
	{"apply/in a missing namespace", "the namespace must exist first", func(s *scene) {
		obj := in(s.Namespace+"-none", s.settings("{}"))
		refusal[*deploy.NotFoundError](s, s.Others.Port().Apply, obj, asOperkit)
	}},
	{"apply/input", "a caller may use its object and the response for something else afterwards", func(s *scene) {
		obj := s.settings("{a: '1'}")
		before := obj.DeepCopy()
		applied := s.apply("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
		s.ok(unstructured.SetNestedField(applied.Object, "x", "data", "a"))
		equal(s, "1", data(s.get(deploy.RefOf(obj)))["a"], "a, after the response was changed")
	}},
}

// web returns a Deployment without replicas. Its only container has the given image and environment.
func (s *scene) web(image, env string) *unstructured.Unstructured {
	return s.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: ` + image + `, env: ` + env + `}]}`)
}

// also returns an intent of another manager for the same Deployment, with one container.
func (s *scene) also(container string) *unstructured.Unstructured {
	return s.object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [" + container + "]}}}}")
}

// listed returns a value for each item of a list, in the order of the list: the value of the item's field key, or the
// item itself if it isn't a map.
func listed(obj *unstructured.Unstructured, key string, path ...string) []string {
	items, _, _ := unstructured.NestedSlice(obj.Object, path...)
	values := []string{}
	for _, item := range items {
		if element, ok := item.(map[string]any); ok {
			item = element[key]
		}
		text, _ := item.(string)
		values = append(values, text)
	}
	return values
}

func containers(obj *unstructured.Unstructured) []string {
	return listed(obj, "name", "spec", "template", "spec", "containers")
}

var mergeCases = []Case{
	{"merge/items of two managers", "a sidecar of another manager isn't lost", func(s *scene) {
		s.apply("operkit", s.web("x:1", "[]"))
		obj := s.apply("injector", s.also("{name: side, image: 'y:1'}"))
		equal(s, []string{"app", "side"}, containers(obj), "containers")
		obj = s.apply("operkit", s.web("x:2", "[]"))
		equal(s, []string{"app", "side"}, containers(obj), "containers after our change")
		equal(s, []string{"x:2", "y:1"}, listed(obj, "image", "spec", "template", "spec", "containers"), "images")
	}},
	{"merge/item given up", "an item is removed when its only manager leaves it out", func(s *scene) {
		s.apply("operkit", s.web("x:1", "[]"))
		s.apply("injector", s.also("{name: side, image: 'y:1'}"))
		obj := s.apply("injector", s.object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}"))
		equal(s, []string{"app"}, containers(obj), "containers")
	}},
	{"merge/item within an item", "variables are merged by their names", func(s *scene) {
		s.apply("operkit", s.web("x:1", "[{name: A, value: '1'}]"))
		s.apply("injector", s.also("{name: app, env: [{name: B, value: '2'}]}"))
		obj := s.apply("operkit", s.web("x:1", "[{name: A, value: '3'}]"))
		items, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
		app, _ := items[0].(map[string]any)
		env := listed(&unstructured.Unstructured{Object: app}, "name", "env")
		slices.Sort(env)
		equal(s, []string{"A", "B"}, env, "variables")
	}},
	{"merge/conflict in an item", "the path of the conflict names the item by its key", func(s *scene) {
		s.apply("other", s.web("x:1", "[]"))
		s.contested(s.also("{name: app, image: 'x:2'}"), `.spec.template.spec.containers[name="app"].image`, "other")
	}},
	{"merge/list of a definition", "custom resources merge by the schema of their definition", func(s *scene) {
		s.apply("operkit", s.widget("{parts: [{name: a, count: 1}]}"))
		s.apply("other", s.widget("{parts: [{name: b, count: 2}]}"))
		obj := s.apply("operkit", s.widget("{parts: [{name: a, count: 3}, {name: c}]}"))
		names := listed(obj, "name", "spec", "parts")
		slices.Sort(names)
		equal(s, []string{"a", "b", "c"}, names, "parts")
	}},
	{"merge/conflict in a list of a definition", "the path of the conflict names the item by its key", func(s *scene) {
		s.apply("other", s.widget("{parts: [{name: a, count: 1}]}"))
		s.contested(s.widget("{parts: [{name: a, count: 2}]}"), `.spec.parts[name="a"].count`, "other")
	}},
	{"merge/set of a definition", "each manager owns its own members", func(s *scene) {
		s.apply("operkit", s.widget("{tags: [a, b]}"))
		s.apply("other", s.widget("{tags: [c]}"))
		obj := s.apply("operkit", s.widget("{tags: [b]}"))
		tags := listed(obj, "", "spec", "tags")
		slices.Sort(tags)
		equal(s, []string{"b", "c"}, tags, "tags")
	}},
	{"merge/atomic list", "a list without keys belongs to one manager", func(s *scene) {
		obj := s.apply("other", s.widget("{words: [a, b]}"))
		equal(s, []string{".spec.words"}, s.owned(obj, "other Apply"), "fields of the other manager")
		s.contested(s.widget("{words: [b]}"), ".spec.words", "other")
		equal(s, []string{"b"}, listed(s.force("operkit", s.widget("{words: [b]}")), "", "spec", "words"), "words")
	}},
	{"merge/duplicate keys", "two items with the same key can't be distinguished", func(s *scene) {
		obj := s.widget("{parts: [{name: a, count: 1}, {name: a, count: 2}]}")
		_, err := s.port().Apply(s.Context(), obj, asOperkit)
		s.is(err != nil, "no error")
		s.absent(deploy.RefOf(obj))
	}},
	{"merge/finalizers", "each manager owns its own finalizers", func(s *scene) {
		theirs := s.bare()
		theirs.SetFinalizers([]string{"example.com/b"})
		s.apply("operkit", finalized(s.bare()))
		s.apply("other", theirs)
		obj := s.apply("operkit", s.bare())
		equal(s, []string{"example.com/b"}, obj.GetFinalizers(), "finalizers")
		s.apply("other", s.bare())
	}},
	{"merge/owner references", "two owners of one object keep their references", func(s *scene) {
		one, two := s.create("operkit", s.config("one", "{}")), s.create("operkit", s.config("two", "{}"))
		s.apply("first", ownedBy(s.bare(), one))
		obj := s.apply("second", ownedBy(s.bare(), two))
		equal(s, 2, len(obj.GetOwnerReferences()), "owner references")
		obj = s.apply("first", s.bare())
		equal(s, 1, len(obj.GetOwnerReferences()), "owner references that remain")
		equal(s, two.GetUID(), obj.GetOwnerReferences()[0].UID, "the owner that remains")
	}},
	{"merge/labels", "each manager owns its own labels", func(s *scene) {
		s.apply("operkit", labelled(s.bare(), "a", "1"))
		s.apply("other", labelled(s.bare(), "b", "2"))
		equal(s, map[string]string{"b": "2"}, s.apply("operkit", s.bare()).GetLabels(), "labels")
	}},
	{"merge/empty", "an empty map is owned, and isn't stored", func(s *scene) {
		obj := s.apply("other", s.settings("{}"))
		s.lacks(obj.Object, "data")
		equal(s, []string{".data"}, s.owned(obj, "other Apply"), "fields of the other manager")
		s.unchanged(obj, s.apply("other", s.settings("{}")))
		s.contested(s.settings("{}"), ".data", "other")
		s.apply("operkit", s.bare())
		equal(s, []string{"other Apply"}, entries(s.get(deploy.RefOf(obj))), "entries")
	}},
	{"merge/empty by a creation", "a manager that sets no fields owns none", func(s *scene) {
		obj := s.create("other", s.settings("{}"))
		s.lacks(obj.Object, "data")
		equal(s, 0, len(entries(obj)), "entries")
		s.lacks(s.update("other", with(obj, map[string]any{})).Object, "data")
	}},
	{"merge/empty within", "empty lists and maps aren't stored, empty structs are", func(s *scene) {
		obj := s.apply("operkit", s.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {}}
    spec:
      volumes: [{name: tmp, emptyDir: {}}]
      nodeSelector: {}
      containers: [{name: app, image: 'x:1', env: [], args: [], securityContext: {}}]`))
		pod, _, _ := unstructured.NestedMap(obj.Object, "spec", "template", "spec")
		app, _ := pod["containers"].([]any)[0].(map[string]any)
		s.lacks(app, "env")
		s.lacks(app, "args")
		s.lacks(pod, "nodeSelector")
		equal(s, any(map[string]any{}), app["securityContext"], "securityContext of the container")
		volume, _ := pod["volumes"].([]any)[0].(map[string]any)
		equal(s, any(map[string]any{}), volume["emptyDir"], "emptyDir of the volume")
	}},
	{"merge/empty in a custom resource", "a custom resource is stored with its empty lists", func(s *scene) {
		obj := s.apply("operkit", s.widget("{words: [], parts: []}"))
		equal(s, any(map[string]any{"words": []any{}, "parts": []any{}}), obj.Object["spec"], "spec")
	}},
}
