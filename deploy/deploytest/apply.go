package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var applyCases = []Case{
	{"apply/creates", "creation by apply can't say 'must not exist': the answer must tell", func(s *scene) {
		applied, err := s.port().Apply(s.Context(), s.settings("{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		s.ok(err)
		s.is(applied.Created, "Created is false")
		equal(s, s.get(deploy.RefOf(applied.Object)).Object, applied.Object.Object, "the answer")
		again, err := s.port().Apply(s.Context(), s.settings("{a: '2'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		s.ok(err)
		s.is(!again.Created, "Created is true for an object that was there")
		equal(s, "2", data(again.Object)["a"], "a")
		s.changed(applied.Object, again.Object)
	}},
	{"apply/outdated", "a version in the intent is a precondition", func(s *scene) {
		before := s.apply("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(before), `{"data":{"b":"2"}}`)
		intent := s.settings("{a: '3'}")
		intent.SetResourceVersion(before.GetResourceVersion())
		_, err := s.port().Apply(s.Context(), intent, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.StaleError](s, err)
		equal(s, "1", data(s.get(deploy.RefOf(before)))["a"], "a")
	}},
	{"apply/other uid", "a successor of the object that was meant isn't hit", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		intent := s.settings("{a: '2'}")
		intent.SetUID("0d6b1e3a-3a3e-4d8e-9f3e-6a5b0c1d2e3f")
		_, err := s.port().Apply(s.Context(), intent, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.StaleError](s, err)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"apply/uid of what is gone", "a deleted object isn't brought back", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		intent := s.settings("{a: '2'}")
		intent.SetUID(obj.GetUID())
		_, err := s.port().Apply(s.Context(), intent, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.StaleError](s, err)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/its uid", "the precondition holds for the object that is meant", func(s *scene) {
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		intent := s.settings("{a: '2'}")
		intent.SetUID(obj.GetUID())
		equal(s, "2", data(s.apply("operkit", intent))["a"], "a")
	}},
	{"apply/no manager", "fields belong to somebody", func(s *scene) {
		_, err := s.port().Apply(s.Context(), s.settings("{}"), deploy.ApplyOptions{})
		fails[*deploy.InvalidError](s, err)
	}},
	{"apply/managedFields", "an exported object isn't an intent", func(s *scene) {
		exported := s.apply("operkit", s.settings("{a: '1'}"))
		_, err := s.port().Apply(s.Context(), exported, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.InvalidError](s, err)
	}},
	{"apply/unknown field", "a typo isn't dropped in silence", func(s *scene) {
		obj := s.settings("{}")
		obj.Object["datum"] = map[string]any{"a": "1"}
		_, err := s.port().Apply(s.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.InvalidError](s, err)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/unknown field of a custom resource", "a typo isn't dropped in silence there either", func(s *scene) {
		obj := s.widget("{size: 1, colour: red}")
		_, err := s.port().Apply(s.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.InvalidError](s, err)
		s.absent(deploy.RefOf(obj))
	}},
	{"apply/wrong type", "what can't be merged is refused as a whole", func(s *scene) {
		obj := s.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: [a, b]}")
		_, err := s.port().Apply(s.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.InvalidError](s, err)
	}},
	{"apply/against the schema", "what a definition forbids changes nothing", func(s *scene) {
		before := s.apply("operkit", s.widget("{size: 1}"))
		_, err := s.port().Apply(s.Context(), s.widget("{size: -1}"), deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.InvalidError](s, err)
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"apply/dry run of what is new", "trying stores nothing", func(s *scene) {
		applied, err := s.port().Apply(s.Context(), s.settings("{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit", DryRun: true})
		s.ok(err)
		s.is(applied.Created, "Created is false")
		s.absent(deploy.RefOf(applied.Object))
	}},
	{"apply/dry run of a change", "a difference is shown from the whole object", func(s *scene) {
		before := s.apply("operkit", s.settings("{a: '1'}"))
		applied, err := s.port().Apply(s.Context(), s.settings("{a: '2', b: '3'}"), deploy.ApplyOptions{FieldManager: "operkit", DryRun: true})
		s.ok(err)
		equal(s, map[string]string{"a": "2", "b": "3"}, data(applied.Object), "data of the answer")
		equal(s, []string{".data.a", ".data.b"}, s.owned(applied.Object, "operkit Apply"), "fields of the answer")
		equal(s, before.Object, s.get(deploy.RefOf(before)).Object, "what is stored")
	}},
	{"apply/dry run of a conflict", "a dry run finds what would fail", func(s *scene) {
		s.apply("kubectl", s.settings("{a: '1'}"))
		_, err := s.port().Apply(s.Context(), s.settings("{a: '2'}"), deploy.ApplyOptions{FieldManager: "operkit", DryRun: true})
		fails[*deploy.ConflictError](s, err)
	}},
	{"apply/generation", "only a change of what is wanted counts", func(s *scene) {
		equal(s, int64(1), s.apply("operkit", s.widget("{size: 1}")).GetGeneration(), "generation of a new object")
		intent := s.widget("{size: 1}")
		intent.SetLabels(map[string]string{"a": "b"})
		equal(s, int64(1), s.apply("operkit", intent).GetGeneration(), "generation after a change of metadata")
		equal(s, int64(2), s.apply("operkit", s.widget("{size: 2}")).GetGeneration(), "generation after a change of the spec")
	}},
	{"apply/in no such namespace", "the namespace comes first", func(s *scene) {
		obj := s.settings("{}")
		obj.SetNamespace(s.Namespace + "-none")
		_, err := s.Others.Port().Apply(s.Context(), obj, deploy.ApplyOptions{FieldManager: "operkit"})
		fails[*deploy.NotFoundError](s, err)
	}},
	{"apply/input", "callers go on using what they gave", func(s *scene) {
		obj := s.settings("{a: '1'}")
		before := obj.DeepCopy()
		applied := s.apply("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
		s.ok(unstructured.SetNestedField(applied.Object, "x", "data", "a"))
		equal(s, "1", data(s.get(deploy.RefOf(obj)))["a"], "a, after the answer was changed")
	}},
}
