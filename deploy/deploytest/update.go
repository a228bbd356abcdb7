package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// update replaces an object as manager.
func (s *scene) update(manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	updated, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{FieldManager: manager})
	s.ok(err)
	return updated
}

// with is a copy of obj with other data.
func with(obj *unstructured.Unstructured, content map[string]any) *unstructured.Unstructured {
	next := obj.DeepCopy()
	next.Object["data"] = content
	return next
}

var updateCases = []Case{
	{"update/whole", "a replacement takes away what it leaves out", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1', b: '2'}"))
		after := s.update("operkit", with(before, map[string]any{"a": "3"}))
		equal(s, map[string]string{"a": "3"}, data(after), "data")
		s.changed(before, after)
		equal(s, after.Object, s.get(deploy.RefOf(after)).Object, "the answer")
		equal(s, before.GetUID(), after.GetUID(), "uid")
	}},
	{"update/no version", "whoever replaces must have read", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		obj.SetResourceVersion("")
		_, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{})
		fails[*deploy.InvalidManifestError](s, err)
	}},
	{"update/outdated", "no update is lost", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(before), `{"data":{"a":"2"}}`)
		_, err := s.port().Update(s.Context(), with(before, map[string]any{"a": "3"}), deploy.UpdateOptions{})
		stale := fails[*deploy.StaleError](s, err)
		equal(s, deploy.RefOf(before), stale.Ref, "what is stale")
		equal(s, "2", data(s.get(deploy.RefOf(before)))["a"], "a")
	}},
	{"update/absent", "a replacement doesn't create", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		_, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{})
		fails[*deploy.NotFoundError](s, err)
		s.absent(deploy.RefOf(obj))
	}},
	{"update/successor", "another object of the same name isn't hit", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		next := s.create("operkit", s.settings("{a: '2'}"))
		obj.SetResourceVersion(next.GetResourceVersion())
		_, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{})
		fails[*deploy.StaleError](s, err)
		equal(s, "2", data(s.get(deploy.RefOf(obj)))["a"], "a")
	}},
	{"update/nothing", "what changes nothing is no event", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.unchanged(before, s.update("operkit", before))
	}},
	{"update/dry run", "trying stores nothing", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		after, err := s.port().Update(s.Context(), with(before, map[string]any{"a": "2"}), deploy.UpdateOptions{DryRun: true})
		s.ok(err)
		equal(s, "2", data(after)["a"], "a of the answer")
		equal(s, before.Object, s.get(deploy.RefOf(before)).Object, "what is stored")
	}},
	{"update/generation", "controllers tell old status from new by it", func(s *scene) {
		obj := s.create("operkit", s.widget("{size: 1}"))
		s.ok(unstructured.SetNestedField(obj.Object, int64(2), "spec", "size"))
		obj = s.update("operkit", obj)
		equal(s, int64(2), obj.GetGeneration(), "generation after a change of the spec")
		obj.SetLabels(map[string]string{"a": "b"})
		equal(s, int64(2), s.update("operkit", obj).GetGeneration(), "generation after a change of metadata")
	}},
	{"update/identity", "uid and creationTimestamp are the cluster's", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		next := with(before, map[string]any{"a": "2"})
		unstructured.RemoveNestedField(next.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(next.Object, "metadata", "uid")
		after := s.update("operkit", next)
		equal(s, before.GetUID(), after.GetUID(), "uid")
		equal(s, before.GetCreationTimestamp(), after.GetCreationTimestamp(), "creationTimestamp")
	}},
	{"update/unknown field", "a typo isn't dropped in silence", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		obj.Object["datum"] = map[string]any{"a": "1"}
		_, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{})
		fails[*deploy.InvalidError](s, err)
	}},
	{"update/status", "the spec's writer can't change the status", func(s *scene) {
		obj := s.create("operkit", s.widget("{size: 1}"))
		s.ok(unstructured.SetNestedField(obj.Object, "Ready", "status", "phase"))
		after := s.update("operkit", obj)
		_, found := after.Object["status"]
		s.is(!found, "status: %v", after.Object["status"])
		s.unchanged(obj, after)
	}},
	{"update/input", "callers go on using what they gave", func(s *scene) {
		obj := with(s.create("operkit", s.settings("{a: '1'}")), map[string]any{"a": "2"})
		before := obj.DeepCopy()
		s.update("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
	}},
}
