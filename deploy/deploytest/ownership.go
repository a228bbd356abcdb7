package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// noted is an intent with data a and b and an annotation.
func (s *scene) noted() *unstructured.Unstructured {
	obj := s.settings("{a: '1', b: '2'}")
	obj.SetAnnotations(map[string]string{"note": "x"})
	return obj
}

var notedFields = []string{".data.a", ".data.b", ".metadata.annotations.note"}

var ownershipCases = []Case{
	{"ownership/of what we applied", "whether an object is unchanged is read off this entry", func(s *scene) {
		obj := s.apply("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
	}},
	{"ownership/value changed by a patch", "drift shows in our entry", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{".data.a"}, s.owned(obj, "kubectl-edit Update"), "theirs")
	}},
	{"ownership/value changed by a replacement", "drift shows in our entry", func(s *scene) {
		obj := s.update("kubectl-edit", with(s.apply("operkit", s.noted()), map[string]any{"a": "9", "b": "2"}))
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{".data.a"}, s.owned(obj, "kubectl-edit Update"), "theirs")
	}},
	{"ownership/value removed", "a removed field is nobody's", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"b":null}}`)
		equal(s, []string{".data.a", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
	}},
	{"ownership/value added", "what others add is no drift", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"c":"3"}}`)
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{".data.c"}, s.owned(obj, "kubectl-edit Update"), "theirs")
		equal(s, "3", data(s.apply("operkit", s.noted()))["c"], "c after our next apply")
	}},
	{"ownership/taken back", "an entry without fields disappears", func(s *scene) {
		s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		obj := s.force("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
		equal(s, "1", data(obj)["a"], "a")
	}},
	{"ownership/patch under our name", "one name for one way of writing", func(s *scene) {
		obj := s.merge("operkit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "by our applies")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Update"), "by our patches")
	}},
	{"ownership/same again", "an apply that changes nothing is no write", func(s *scene) {
		before := s.apply("operkit", s.noted())
		after := s.apply("operkit", s.noted())
		equal(s, before.Object, after.Object, "the answer")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"ownership/of what was created", "an apply can't remove what a creation owns", func(s *scene) {
		s.create("operkit", s.settings("{a: '1', b: '2'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "by our applies")
		s.is(contains(s.owned(obj, "operkit Update"), ".data.b"), "by our creation: %v", s.owned(obj, "operkit Update"))
	}},
	{"ownership/given up", "what an intent leaves out goes", func(s *scene) {
		s.apply("operkit", s.noted())
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1"}, data(obj), "data")
		equal(s, 0, len(obj.GetAnnotations()), "annotations")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "ours")
	}},
	{"ownership/given up and shared", "what another manager wants too stays", func(s *scene) {
		s.apply("operkit", s.noted())
		s.apply("other", s.settings("{b: '2'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.b"}, s.owned(obj, "other Apply"), "theirs")
	}},
	{"ownership/shared value", "wanting the same is no conflict", func(s *scene) {
		s.apply("other", s.settings("{a: '1'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, []string{"operkit Apply", "other Apply"}, entries(obj), "entries")
		equal(s, s.owned(obj, "other Apply"), s.owned(obj, "operkit Apply"), "fields of both")
	}},
	{"ownership/conflict", "people must see who wants what", func(s *scene) {
		before := s.apply("other", s.settings("{a: '1', b: '2'}"))
		_, err := s.port().Apply(s.Context(), s.settings("{a: '9', b: '2'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		conflict := fails[*deploy.ConflictError](s, err)
		s.contested(conflict, ".data.a", "other")
		equal(s, deploy.RefOf(before), conflict.Ref, "whose fields")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"ownership/conflict with an update", "a client without applies is a holder like any other", func(s *scene) {
		s.create("kubectl-client-side-apply", s.settings("{a: '1'}"))
		_, err := s.port().Apply(s.Context(), s.settings("{a: '9'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		s.contested(fails[*deploy.ConflictError](s, err), ".data.a", "kubectl-client-side-apply")
	}},
	{"ownership/conflicts", "all of them are told at once", func(s *scene) {
		s.apply("one", s.settings("{a: '1'}"))
		s.apply("two", s.settings("{b: '2'}"))
		_, err := s.port().Apply(s.Context(), s.settings("{a: '8', b: '9'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		held := map[string]string{}
		for _, field := range fails[*deploy.ConflictError](s, err).Fields {
			held[field.Field] = field.Manager
		}
		equal(s, map[string]string{".data.a": "one", ".data.b": "two"}, held, "contested fields")
	}},
	{"ownership/forced", "a takeover leaves the rest to its holder", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2'}"))
		obj := s.force("operkit", s.settings("{a: '9'}"))
		equal(s, map[string]string{"a": "9", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "ours")
		equal(s, []string{".data.b"}, s.owned(obj, "other Apply"), "theirs")
	}},
	{"ownership/given back", "a field that is left to others keeps their value", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2'}"))
		s.force("operkit", s.settings("{a: '9', c: '3'}"))
		obj := s.force("other", s.settings("{a: '1', b: '2'}"))
		equal(s, []string{".data.c"}, s.owned(obj, "operkit Apply"), "ours")
		obj = s.apply("operkit", s.settings("{c: '3'}"))
		equal(s, map[string]string{"a": "1", "b": "2", "c": "3"}, data(obj), "data")
	}},
	{"ownership/emptied", "whoever empties managedFields takes nothing away from the object", func(s *scene) {
		ref := deploy.RefOf(s.apply("operkit", s.noted()))
		obj := s.merge("kubectl-edit", ref, `{"metadata":{"managedFields":[{}]}}`)
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		s.is(s.owned(obj, "operkit Apply") == nil, "our entry is still there")
		obj = s.force("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "ours after the next apply")
	}},
}

// contested reports it unless one field is contested, by that manager.
func (s *scene) contested(conflict *deploy.ConflictError, field, manager string) {
	s.Helper()
	if len(conflict.Fields) != 1 {
		s.Fatalf("contested fields: %v", conflict.Fields)
	}
	equal(s, field, conflict.Fields[0].Field, "contested field")
	equal(s, manager, conflict.Fields[0].Manager, "its holder")
}
