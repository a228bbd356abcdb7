package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/types"
)

// refuses sends a patch, and fails the case unless the error is an E and the object is unchanged.
func refuses[E error](s *scene, ref deploy.Ref, patch deploy.PatchRequest) {
	s.Helper()
	before := s.get(ref)
	_, err := s.port().Patch(s.Context(), ref, patch)
	fails[E](s, err)
	s.unchanged(before, s.get(ref))
}

var patchCases = []Case{
	{"patch/merge", "a merge patch sets and removes values", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1', b: '2'}"))
		after := s.merge("kubectl", deploy.RefOf(before), `{"data":{"b":null,"c":"3"}}`)
		equal(s, map[string]string{"a": "1", "c": "3"}, data(after), "data")
		equal(s, s.get(deploy.RefOf(after)).Object, after.Object, "the response")
		s.changed(before, after)
	}},
	{"patch/JSON", "a JSON patch can test values before it changes them", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		body := `[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"},{"op":"add","path":"/data/b","value":"3"}]`
		after := s.patch(ref, deploy.PatchRequest{Type: types.JSONPatchType, Body: []byte(body), FieldManager: "kubectl"})
		equal(s, map[string]string{"a": "2", "b": "3"}, data(after), "data")
	}},
	{"patch/JSON test fails", "a failed test prevents the whole patch", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		body := `[{"op":"replace","path":"/data/a","value":"2"},{"op":"test","path":"/data/a","value":"1"}]`
		refuses[*deploy.InvalidError](s, ref, deploy.PatchRequest{Type: types.JSONPatchType, Body: []byte(body)})
	}},
	{"patch/absent", "a patch doesn't create the object", func(s *scene) {
		ref := deploy.RefOf(s.settings("{}"))
		_, err := s.port().Patch(s.Context(), ref, merging("kubectl", `{"data":{"a":"1"}}`))
		equal(s, ref, fails[*deploy.NotFoundError](s, err).Ref, "object in the error")
	}},
	{"patch/outdated", "a resourceVersion in the patch is a precondition", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(before), `{"data":{"a":"2"}}`)
		refuses[*deploy.StaleError](s, deploy.RefOf(before),
			merging("operkit", `{"metadata":{"resourceVersion":"`+before.GetResourceVersion()+`"},"data":{"a":"3"}}`))
	}},
	{"patch/current", "a patch with the current resourceVersion is accepted", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		after := s.merge("operkit", deploy.RefOf(before), `{"metadata":{"resourceVersion":"`+before.GetResourceVersion()+`"},"data":{"a":"3"}}`)
		equal(s, "3", data(after)["a"], "a")
	}},
	{"patch/other uid", "a new object of the same name isn't changed", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		refuses[*deploy.StaleError](s, ref, merging("operkit", `{"metadata":{"uid":"0d6b1e3a-3a3e-4d8e-9f3e-6a5b0c1d2e3f"},"data":{"a":"3"}}`))
	}},
	{"patch/nothing", "a patch without a change causes no event", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.unchanged(before, s.merge("kubectl", deploy.RefOf(before), `{"data":{"a":"1"}}`))
	}},
	{"patch/dry run", "a dry run stores nothing", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		patch := merging("kubectl", `{"data":{"a":"2"}}`)
		patch.DryRun = true
		after := s.patch(deploy.RefOf(before), patch)
		equal(s, "2", data(after)["a"], "a of the response")
		equal(s, before.Object, s.get(deploy.RefOf(before)).Object, "the stored object")
	}},
	{"patch/no JSON", "a patch that can't be parsed is refused", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		refuses[*deploy.InvalidError](s, ref, merging("kubectl", `{"data":`))
	}},
	{"patch/against the schema", "a patch can't violate the schema", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		refuses[*deploy.InvalidError](s, ref, merging("kubectl", `{"spec":{"size":-1}}`))
	}},
	{"patch/apply", "Port has the method Apply for an apply patch", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		_, err := s.port().Patch(s.Context(), ref, deploy.PatchRequest{Type: types.ApplyPatchType, Body: []byte(`{}`), FieldManager: "operkit"})
		s.is(err != nil, "no error")
	}},
	{"patch/generation", "only a change of the spec raises the generation", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		equal(s, int64(2), s.merge("kubectl", ref, `{"spec":{"size":2}}`).GetGeneration(), "generation after a change of the spec")
		equal(s, int64(2), s.merge("kubectl", ref, `{"metadata":{"labels":{"a":"b"}}}`).GetGeneration(), "generation after a change of metadata")
	}},
}

// statusPatch returns a patch of the status of an object.
func statusPatch(manager, body string) deploy.PatchRequest {
	patch := merging(manager, body)
	patch.Subresource = "status"
	return patch
}

var statusCases = []Case{
	{"status/by its subresource", "a write of the status doesn't change the spec", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		obj := s.patch(ref, statusPatch("controller", `{"status":{"phase":"Ready"},"spec":{"size":9}}`))
		equal(s, any(map[string]any{"phase": "Ready"}), obj.Object["status"], "status")
		equal(s, any(map[string]any{"size": int64(1)}), obj.Object["spec"], "spec")
		equal(s, int64(1), obj.GetGeneration(), "generation")
		equal(s, []string{".status.phase"}, s.owned(obj, "controller Update status"), "fields of the controller")
	}},
	{"status/not by a creation", "a new object has no status", func(s *scene) {
		manifest := s.widget("{size: 1}")
		manifest.Object["status"] = map[string]any{"phase": "Ready"}
		s.lacks(s.create("operkit", manifest).Object, "status")
	}},
	{"status/not by a patch of the object", "a write of the object doesn't change the status", func(s *scene) {
		before := s.create("operkit", s.widget("{size: 1}"))
		after := s.merge("kubectl", deploy.RefOf(before), `{"status":{"phase":"Ready"}}`)
		s.lacks(after.Object, "status")
		s.unchanged(before, after)
	}},
	{"status/not by an apply of the object", "an apply of the object neither changes nor owns the status", func(s *scene) {
		intent := s.widget("{size: 1}")
		intent.Object["status"] = map[string]any{"phase": "Ready"}
		obj := s.apply("operkit", intent)
		s.lacks(obj.Object, "status")
		equal(s, []string{".spec.size"}, s.owned(obj, "operkit Apply"), "our fields")
	}},
	{"status/stays", "an apply of the object keeps the status", func(s *scene) {
		ref := deploy.RefOf(s.apply("operkit", s.widget("{size: 1}")))
		s.patch(ref, statusPatch("controller", `{"status":{"phase":"Ready"}}`))
		obj := s.apply("operkit", s.widget("{size: 2}"))
		equal(s, any(map[string]any{"phase": "Ready"}), obj.Object["status"], "status")
	}},
	{"status/nothing", "writing the same status causes no event", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		before := s.patch(ref, statusPatch("controller", `{"status":{"phase":"Ready"}}`))
		s.unchanged(before, s.patch(ref, statusPatch("controller", `{"status":{"phase":"Ready"}}`)))
	}},
	{"status/outdated", "a status that was computed from an older object is refused", func(s *scene) {
		before := s.create("operkit", s.widget("{size: 1}"))
		s.merge("kubectl", deploy.RefOf(before), `{"spec":{"size":2}}`)
		refuses[*deploy.StaleError](s, deploy.RefOf(before), statusPatch("controller",
			`{"metadata":{"resourceVersion":"`+before.GetResourceVersion()+`"},"status":{"phase":"Ready"}}`))
	}},
	{"status/against the schema", "a status can't violate the schema", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		refuses[*deploy.InvalidError](s, ref, statusPatch("controller", `{"status":{"ready":"many"}}`))
	}},
	{"status/not there", "a write of the status returns an error if the kind has no status subresource", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		refuses[*deploy.NotFoundError](s, ref, statusPatch("controller", `{"status":{"phase":"Ready"}}`))
	}},
}
