package deploytest

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// fieldsOf returns the managers of contested fields by path.
func fieldsOf(fields []deploy.FieldConflict) map[string]string {
	held := map[string]string{}
	for _, field := range fields {
		held[field.Field] = field.Manager
	}
	return held
}

var conflictCases = []Case{
	{"conflicts/ours", "fields that we applied are taken back, and the result names the other manager", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1', b: '2'}"))
		s.merge("kubectl", deploy.RefOf(made), `{"data":{"a":"9"}}`)
		result := s.becomes(deploy.Configured, m, s.settings("{a: '1', b: '2'}"))
		s.asked(calls, "force ConfigMap settings")
		equal(s, map[string]string{".data.a": "kubectl"}, fieldsOf(result.Taken), "fields taken over")
		equal(s, "1", data(result.Object)["a"], "a")
	}},
	{"conflicts/theirs", "on an object that others created, nothing is taken over, and no request is sent", func(s *scene) {
		before := s.create("kubectl", s.settings("{a: '1', b: '2'}"))
		m, calls := s.manager()
		result := s.becomes(deploy.Conflicted, m, s.settings("{a: '9', b: '2'}"))
		conflict := fails[*deploy.ConflictError](s, result.Err)
		equal(s, map[string]string{".data.a": "kubectl"}, fieldsOf(conflict.Fields), "contested fields")
		s.asked(calls)
		s.unchanged(before, s.get(result.Ref))
	}},
	{"conflicts/the same value", "applying the present value takes no field from another manager", func(s *scene) {
		s.apply("other", s.settings("{a: '1'}"))
		m, calls := s.manager()
		result := s.becomes(deploy.Configured, m, s.settings("{a: '1'}"))
		s.asked(calls, "apply ConfigMap settings")
		equal(s, 0, len(result.Taken), "fields taken over")
		s.settles(s.settings("{a: '1'}"))
	}},
	{"conflicts/force", "fields can be taken over on request", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2'}"))
		m, _ := s.manager(deploy.Conflicts(deploy.Force))
		result := s.becomes(deploy.Configured, m, s.settings("{a: '9'}"))
		equal(s, map[string]string{".data.a": "other"}, fieldsOf(result.Taken), "fields taken over")
		equal(s, map[string]string{"a": "9", "b": "2"}, data(result.Object), "data")
	}},
	{"conflicts/fail", "on request, not even fields that we applied before are taken back", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1'}"), deploy.Conflicts(deploy.Fail))
		s.merge("kubectl", deploy.RefOf(made), `{"data":{"a":"9"}}`)
		fails[*deploy.ConflictError](s, s.becomes(deploy.Conflicted, m, s.settings("{a: '1'}")).Err)
		s.asked(calls)
	}},
	{"conflicts/keep", "a field that is left to another manager is left out until that manager gives it up, and is applied after that", kept},
	{"conflicts/by field", "the policy of the longest path decides", func(s *scene) {
		s.apply("other", s.settings("{a: '1', b: '2', c: '3'}"))
		m, _ := s.manager(deploy.Conflicts(deploy.Keep, ".data"), deploy.Conflicts(deploy.Force, ".data.a"))
		result := s.becomes(deploy.Configured, m, s.settings("{a: '7', b: '8', c: '9'}"))
		equal(s, map[string]string{"a": "7", "b": "2", "c": "3"}, data(result.Object), "data")
		equal(s, map[string]string{".data.a": "other"}, fieldsOf(result.Taken), "fields taken over")
		equal(s, map[string]string{".data.b": "other", ".data.c": "other"}, fieldsOf(result.Kept), "fields left to others")
	}},
	{"conflicts/in an item", "a single field of a list item can be left to others", func(s *scene) {
		s.apply("other", s.widget("{parts: [{name: a, count: 1}, {name: b, count: 1}]}"))
		m, _ := s.manager(deploy.Conflicts(deploy.Keep, `.spec.parts[name="a"].count`), deploy.Conflicts(deploy.Force, `.spec.parts[name="b"]`))
		intent := s.widget("{parts: [{name: a, count: 2}, {name: b, count: 2}]}")
		result := s.becomes(deploy.Configured, m, intent)
		equal(s, map[string]string{`.spec.parts[name="a"].count`: "other"}, fieldsOf(result.Kept), "fields left to others")
		equal(s, map[string]string{`.spec.parts[name="b"].count`: "other"}, fieldsOf(result.Taken), "fields taken over")
		equal(s, any(map[string]any{"parts": []any{
			map[string]any{"name": "a", "count": int64(1)}, map[string]any{"name": "b", "count": int64(2)},
		}}), s.get(result.Ref).Object["spec"], "spec")
	}},
	{"conflicts/no war", "if two managers keep overwriting a field, the conflict is reported and the writes stop", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1', b: '2'}"))
		ref := deploy.RefOf(made)
		for range 3 {
			s.merge("kubectl", ref, `{"data":{"a":"9"}}`)
			s.becomes(deploy.Configured, m, s.settings("{a: '1', b: '2'}"))
		}
		s.merge("kubectl", ref, `{"data":{"a":"9"}}`)
		fought := fails[*deploy.ConflictError](s, s.becomes(deploy.Conflicted, m, s.settings("{a: '1', b: '2'}")).Err)
		s.is(fought.Fought, "Fought is false")
		equal(s, map[string]string{".data.a": "kubectl"}, fieldsOf(fought.Fields), "contested fields")
		calls.take()
		for range 3 {
			s.becomes(deploy.Conflicted, m, s.settings("{a: '1', b: '2'}"))
		}
		s.asked(calls)
		equal(s, map[string]string{"a": "9", "b": "2"}, data(s.get(ref)), "data")
		s.becomes(deploy.Conflicted, m, s.settings("{a: '1', b: '3'}"))
		equal(s, map[string]string{"a": "9", "b": "3"}, data(s.get(ref)), "data: other fields are still applied")
	}},
	{"conflicts/one name", "if two processes with one field manager keep overwriting each other, the conflict is reported and the writes stop", func(s *scene) {
		a, callsOfA := s.manager()
		b, callsOfB := s.manager()
		for range 5 {
			s.try(a, s.settings("{of: a}"))
			s.try(b, s.settings("{of: b}"))
		}
		callsOfA.take()
		callsOfB.take()
		for range 3 {
			for m, of := range map[*deploy.Manager]string{a: "a", b: "b"} {
				conflict := fails[*deploy.ConflictError](s, s.becomes(deploy.Conflicted, m, s.settings("{of: "+of+"}")).Err)
				s.is(conflict.Fought && conflict.SameManager && conflict.RetryAfter > 0, "the conflict is %+v", conflict)
			}
		}
		s.asked(callsOfA)
		s.asked(callsOfB)
	}},
	{"conflicts/after another client", "a field that another client has set before is removed if the intent leaves it out", func(s *scene) {
		s.create("kubectl-client-side-apply", s.settings("{a: '1', b: '2'}"))
		s.watch(configMap)
		m, _ := s.manager(deploy.TakeOverFrom("kubectl-client-side-apply"))
		result := s.becomes(deploy.Configured, m, s.settings("{a: '9'}"))
		equal(s, map[string]string{"a": "9"}, data(result.Object), "data")
		equal(s, []string{"operkit Apply"}, entries(result.Object), "entries")
		s.settles(s.settings("{a: '9'}"), deploy.TakeOverFrom("kubectl-client-side-apply"))
	}},
}

func kept(s *scene) {
	options := []deploy.Option{deploy.Conflicts(deploy.Keep, ".data.a")}
	s.apply("other", s.settings("{a: '1'}"))
	m, calls := s.manager(options...)
	result := s.becomes(deploy.Configured, m, s.settings("{a: '9', b: '2'}"))
	equal(s, map[string]string{".data.a": "other"}, fieldsOf(result.Kept), "fields left to others")
	equal(s, map[string]string{"a": "1", "b": "2"}, data(result.Object), "data")
	equal(s, []string{".data.b"}, withoutAnnotations(s.owned(result.Object, "operkit Apply")), "our fields")
	calls.take()
	s.becomes(deploy.Unchanged, m, s.settings("{a: '9', b: '2'}"))
	s.asked(calls)
	s.apply("other", s.settings("{a: '5'}"))
	s.becomes(deploy.Unchanged, m, s.settings("{a: '9', b: '2'}"))
	s.asked(calls)
	s.apply("other", s.bare())
	result = s.becomes(deploy.Configured, m, s.settings("{a: '9', b: '2'}"))
	equal(s, map[string]string{"a": "9", "b": "2"}, data(result.Object), "data after the other manager gave the field up")
}

// withoutAnnotations returns the paths outside of annotations, because a Manager adds an annotation of its own.
func withoutAnnotations(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return strings.HasPrefix(path, ".metadata.annotations") })
}
