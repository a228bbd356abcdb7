package deploytest

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// noted returns an intent with data a and b, and with an annotation.
func (s *scene) noted() *unstructured.Unstructured {
	obj := s.settings("{a: '1', b: '2'}")
	obj.SetAnnotations(map[string]string{"note": "x"})
	return obj
}

var notedFields = []string{".data.a", ".data.b", ".metadata.annotations.note"}

var ownershipCases = []Case{
	{"ownership/of what we applied", "the entry of our applies shows whether an object is unchanged", func(s *scene) {
		obj := s.apply("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
	}},
	{"ownership/value changed by a patch", "our entry shows the drift", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{".data.a"}, s.owned(obj, "kubectl-edit Update"), "fields of the other manager")
	}},
	{"ownership/value changed by a replacement", "our entry shows the drift", func(s *scene) {
		obj := s.update("kubectl-edit", with(s.apply("operkit", s.noted()), map[string]any{"a": "9", "b": "2"}))
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{".data.a"}, s.owned(obj, "kubectl-edit Update"), "fields of the other manager")
	}},
	{"ownership/value removed", "nobody owns a removed field", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"b":null}}`)
		equal(s, []string{".data.a", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
	}},
	{"ownership/value added", "fields that others add don't count as drift", func(s *scene) {
		obj := s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"c":"3"}}`)
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{".data.c"}, s.owned(obj, "kubectl-edit Update"), "fields of the other manager")
		equal(s, "3", data(s.apply("operkit", s.noted()))["c"], "c after our next apply")
	}},
	{"ownership/taken back", "an entry without fields disappears", func(s *scene) {
		s.merge("kubectl-edit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		obj := s.force("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{"operkit Apply"}, entries(obj), "entries")
		equal(s, "1", data(obj)["a"], "a")
	}},
	{"ownership/patch under our name", "applies and other writes under one name have separate entries", func(s *scene) {
		obj := s.merge("operkit", deploy.RefOf(s.apply("operkit", s.noted())), `{"data":{"a":"9"}}`)
		equal(s, []string{".data.b", ".metadata.annotations.note"}, s.owned(obj, "operkit Apply"), "fields of our applies")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Update"), "fields of our patches")
	}},
	{"ownership/same again", "an apply without a change stores nothing", func(s *scene) {
		before := s.apply("operkit", s.noted())
		after := s.apply("operkit", s.noted())
		equal(s, before.Object, after.Object, "the response")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"ownership/of created fields", "an apply doesn't remove fields that its manager owns by a creation", func(s *scene) {
		s.create("operkit", s.settings("{a: '1', b: '2'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "fields of our applies")
		s.is(slices.Contains(s.owned(obj, "operkit Update"), ".data.b"), "fields of our creation: %v", s.owned(obj, "operkit Update"))
	}},
	{"ownership/given up", "fields that an intent leaves out are removed", func(s *scene) {
		s.apply("operkit", s.noted())
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1"}, data(obj), "data")
		equal(s, 0, len(obj.GetAnnotations()), "annotations")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "our fields")
	}},
	{"ownership/given up and shared", "a field that another manager also applies stays", func(s *scene) {
		s.apply("operkit", s.noted())
		s.apply("other", s.settings("{b: '2'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.b"}, s.owned(obj, "other Apply"), "fields of the other manager")
	}},
	{"ownership/shared value", "applying the value that a field already has is no conflict", func(s *scene) {
		s.apply("other", s.settings("{a: '1'}"))
		obj := s.apply("operkit", s.settings("{a: '1'}"))
		equal(s, []string{"operkit Apply", "other Apply"}, entries(obj), "entries")
		equal(s, s.owned(obj, "other Apply"), s.owned(obj, "operkit Apply"), "fields of both")
	}},
	{"ownership/conflict", "users must see which manager owns which field", func(s *scene) {
		before := s.apply("other", s.settings("{a: '1', b: '2'}"))
		conflict := s.contested(s.settings("{a: '9', b: '2'}"), ".data.a", "other")
		equal(s, deploy.RefOf(before), conflict.Ref, "object in the error")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"ownership/conflict with an update", "a client that doesn't apply owns fields, too", func(s *scene) {
		s.create("kubectl-client-side-apply", s.settings("{a: '1'}"))
		s.contested(s.settings("{a: '9'}"), ".data.a", "kubectl-client-side-apply")
	}},
	{"ownership/conflicts", "one error lists all conflicts", func(s *scene) {
		s.apply("one", s.settings("{a: '1'}"))
		s.apply("two", s.settings("{b: '2'}"))
		conflict := refusal[*deploy.ConflictError](s, s.port().Apply, s.settings("{a: '8', b: '9'}"), asOperkit)
		equal(s, map[string]string{".data.a": "one", ".data.b": "two"}, fieldsOf(conflict.Fields), "contested fields")
	}},
	{"ownership/forced", "a forced apply takes over only the fields of the intent", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2'}"))
		obj := s.force("operkit", s.settings("{a: '9'}"))
		equal(s, map[string]string{"a": "9", "b": "2"}, data(obj), "data")
		equal(s, []string{".data.a"}, s.owned(obj, "operkit Apply"), "our fields")
		equal(s, []string{".data.b"}, s.owned(obj, "other Apply"), "fields of the other manager")
	}},
	{"ownership/given back", "a field that we leave to another manager keeps the value of that manager", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2'}"))
		s.force("operkit", s.settings("{a: '9', c: '3'}"))
		obj := s.force("other", s.settings("{a: '1', b: '2'}"))
		equal(s, []string{".data.c"}, s.owned(obj, "operkit Apply"), "our fields")
		obj = s.apply("operkit", s.settings("{c: '3'}"))
		equal(s, map[string]string{"a": "1", "b": "2", "c": "3"}, data(obj), "data")
	}},
	{"ownership/emptied", "emptying managedFields changes no values", func(s *scene) {
		ref := deploy.RefOf(s.apply("operkit", s.noted()))
		obj := s.merge("kubectl-edit", ref, `{"metadata":{"managedFields":[{}]}}`)
		equal(s, map[string]string{"a": "1", "b": "2"}, data(obj), "data")
		s.is(s.owned(obj, "operkit Apply") == nil, "our entry is still there")
		obj = s.force("operkit", s.noted())
		equal(s, notedFields, s.owned(obj, "operkit Apply"), "our fields after the next apply")
	}},
}

// contested applies an intent, and fails the case unless field is the only contested field and manager owns it.
func (s *scene) contested(intent *unstructured.Unstructured, field, manager string) *deploy.ConflictError {
	s.Helper()
	conflict := refusal[*deploy.ConflictError](s, s.port().Apply, intent, asOperkit)
	if len(conflict.Fields) != 1 {
		s.Fatalf("contested fields: %v", conflict.Fields)
	}
	equal(s, field, conflict.Fields[0].Field, "contested field")
	equal(s, manager, conflict.Fields[0].Manager, "manager of the contested field")
	return conflict
}
