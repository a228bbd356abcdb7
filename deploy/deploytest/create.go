package deploytest

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var createCases = []Case{
	{"create/stored", "a creation returns the object as it is stored", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		s.is(obj.GetUID() != "" && obj.GetResourceVersion() != "" && !obj.GetCreationTimestamp().Time.IsZero(), "metadata: %v", obj.Object["metadata"])
		equal(s, s.get(deploy.RefOf(obj)).Object, obj.Object, "the response")
	}},
	{"create/exists", "the caller must get an error if the object exists", func(s *scene) {
		first := s.create("operkit", s.settings("{a: '1'}"))
		exists := refusal[*deploy.AlreadyExistsError](s, s.port().Create, s.settings("{a: '2'}"), deploy.CreateOptions{})
		equal(s, deploy.RefOf(first), exists.Ref, "object in the error")
		s.unchanged(first, s.get(deploy.RefOf(first)))
	}},
	{"create/generateName", "the cluster generates names", func(s *scene) {
		manifest := s.object("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-}}")
		first, second := s.create("operkit", manifest), s.create("operkit", manifest)
		s.is(strings.HasPrefix(first.GetName(), "run-") && len(first.GetName()) > len("run-"), "name %q", first.GetName())
		s.is(first.GetName() != second.GetName(), "both are %s", first.GetName())
		equal(s, "", manifest.GetName(), "name in the caller's manifest")
	}},
	{"create/owner of fields", "the creator owns the fields", func(s *scene) {
		obj := s.create("kubectl-create", s.settings("{a: '1'}"))
		equal(s, []string{"kubectl-create Update"}, entries(obj), "entries")
		s.is(slices.Contains(s.owned(obj, "kubectl-create Update"), ".data.a"), "owned: %v", s.owned(obj, "kubectl-create Update"))
	}},
	{"create/dry run", "a dry run stores nothing", func(s *scene) {
		obj, err := s.port().Create(s.Context(), s.settings("{a: '1'}"), deploy.CreateOptions{FieldManager: "operkit", DryRun: true})
		s.ok(err)
		equal(s, map[string]string{"a": "1"}, data(obj), "data of the response")
		s.absent(deploy.RefOf(obj))
	}},
	{"create/dry run of an existing object", "a dry run returns the error that the creation would return", func(s *scene) {
		s.create("operkit", s.settings("{}"))
		refusal[*deploy.AlreadyExistsError](s, s.port().Create, s.settings("{}"), deploy.CreateOptions{DryRun: true})
	}},
	{"create/generation", "observedGeneration is compared with the generation", func(s *scene) {
		equal(s, int64(1), s.create("operkit", s.widget("{size: 1}")).GetGeneration(), "generation")
	}},
	{"create/with a version", "an object with a resourceVersion was read from a cluster, so it isn't new", func(s *scene) {
		obj := s.settings("{}")
		obj.SetResourceVersion("1")
		refusal[*deploy.InvalidManifestError](s, s.port().Create, obj, deploy.CreateOptions{})
	}},
	{"create/in a missing namespace", "the namespace must exist first", func(s *scene) {
		obj := in(s.Namespace+"-none", s.settings("{}"))
		refusal[*deploy.NotFoundError](s, s.Others.Port().Create, obj, deploy.CreateOptions{})
	}},
	{"create/unsendable", "an object that can't be sent returns an error, and no request is sent", unsendable},
	{"create/bad name", "an invalid name is refused, not changed", func(s *scene) {
		obj := s.config("Not_A_Name", "{}")
		refused := refusal[*deploy.InvalidError](s, s.port().Create, obj, deploy.CreateOptions{})
		s.is(len(refused.Causes) > 0 && refused.Causes[0].Field == "metadata.name", "causes: %v", refused.Causes)
	}},
	{"create/unknown field", "a typo isn't ignored", func(s *scene) {
		obj := s.settings("{}")
		obj.Object["datum"] = map[string]any{"a": "1"}
		refusal[*deploy.InvalidError](s, s.port().Create, obj, deploy.CreateOptions{})
		s.absent(deploy.RefOf(obj))
	}},
	{"create/against the schema", "the error names the field that violates the schema", func(s *scene) {
		refused := refusal[*deploy.InvalidError](s, s.port().Create, s.widget("{size: -1}"), deploy.CreateOptions{})
		s.is(len(refused.Causes) == 1 && refused.Causes[0].Field == "spec.size", "causes: %v", refused.Causes)
	}},
	{"create/input", "a caller may use its object and the response for something else afterwards", func(s *scene) {
		obj := s.settings("{a: '1'}")
		before := obj.DeepCopy()
		created := s.create("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
		created.SetLabels(map[string]string{"mine": "yes"})
		s.is(len(s.get(deploy.RefOf(obj)).GetLabels()) == 0, "a change of the response changed the stored object")
	}},
}

func unsendable(s *scene) {
	unnamed := s.settings("{}")
	unnamed.SetName("")
	unplaced := in("", s.settings("{}"))
	placed := s.object("{apiVersion: v1, kind: Namespace, metadata: {name: other}}")
	for reason, obj := range map[string]*unstructured.Unstructured{
		"no name": unnamed, "no namespace": unplaced, "a namespace for a cluster-scoped kind": placed,
		"a path instead of a name": s.config("a/status", "{}"), "the name ..": s.config("'..'", "{}"),
	} {
		read := obj.DeepCopy()
		read.SetResourceVersion("1")
		calls := requests(s.Context(), s.Others.Port(), read, obj, obj)
		delete(calls, "List")
		for verb, call := range calls {
			err := call()
			s.is(isA[*deploy.InvalidManifestError](err), "%s with %s: %v (%T)", verb, reason, err, err)
		}
	}
}

// update replaces an object as manager.
func (s *scene) update(manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	updated, err := s.port().Update(s.Context(), obj, deploy.UpdateOptions{FieldManager: manager})
	s.ok(err)
	return updated
}

// with returns a copy of obj with other data.
func with(obj *unstructured.Unstructured, content map[string]any) *unstructured.Unstructured {
	next := obj.DeepCopy()
	next.Object["data"] = content
	return next
}

var updateCases = []Case{
	{"update/whole", "a replacement removes the fields that it leaves out", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1', b: '2'}"))
		after := s.update("operkit", with(before, map[string]any{"a": "3"}))
		equal(s, map[string]string{"a": "3"}, data(after), "data")
		s.changed(before, after)
		equal(s, after.Object, s.get(deploy.RefOf(after)).Object, "the response")
		equal(s, before.GetUID(), after.GetUID(), "uid")
	}},
	{"update/no version", "a caller must have read the object that it replaces", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		obj.SetResourceVersion("")
		refusal[*deploy.InvalidManifestError](s, s.port().Update, obj, deploy.UpdateOptions{})
	}},
	{"update/outdated", "an update must not overwrite a change that it hasn't seen", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(before), `{"data":{"a":"2"}}`)
		next := with(before, map[string]any{"a": "3"})
		stale := refusal[*deploy.StaleError](s, s.port().Update, next, deploy.UpdateOptions{})
		equal(s, deploy.RefOf(before), stale.Ref, "object in the error")
		equal(s, "2", data(s.get(deploy.RefOf(before)))["a"], "a")
	}},
	{"update/absent", "a replacement doesn't create the object", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.delete(deploy.RefOf(obj))
		refusal[*deploy.NotFoundError](s, s.port().Update, obj, deploy.UpdateOptions{})
		s.absent(deploy.RefOf(obj))
	}},
	{"update/successor", "a new object of the same name isn't changed", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
		next := s.create("operkit", s.settings("{a: '2'}"))
		obj.SetResourceVersion(next.GetResourceVersion())
		refusal[*deploy.StaleError](s, s.port().Update, obj, deploy.UpdateOptions{})
		equal(s, "2", data(s.get(deploy.RefOf(obj)))["a"], "a")
	}},
	{"update/nothing", "an update without a change causes no event", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		s.unchanged(before, s.update("operkit", before))
	}},
	{"update/dry run", "a dry run stores nothing", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		after, err := s.port().Update(s.Context(), with(before, map[string]any{"a": "2"}), deploy.UpdateOptions{DryRun: true})
		s.ok(err)
		equal(s, "2", data(after)["a"], "a of the response")
		equal(s, before.Object, s.get(deploy.RefOf(before)).Object, "the stored object")
	}},
	{"update/generation", "controllers detect an outdated status by the generation", func(s *scene) {
		obj := s.create("operkit", s.widget("{size: 1}"))
		s.ok(unstructured.SetNestedField(obj.Object, int64(2), "spec", "size"))
		obj = s.update("operkit", obj)
		equal(s, int64(2), obj.GetGeneration(), "generation after a change of the spec")
		obj.SetLabels(map[string]string{"a": "b"})
		equal(s, int64(2), s.update("operkit", obj).GetGeneration(), "generation after a change of metadata")
	}},
	{"update/identity", "only the cluster sets uid and creationTimestamp", func(s *scene) {
		before := s.create("operkit", s.settings("{a: '1'}"))
		next := with(before, map[string]any{"a": "2"})
		unstructured.RemoveNestedField(next.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(next.Object, "metadata", "uid")
		after := s.update("operkit", next)
		equal(s, before.GetUID(), after.GetUID(), "uid")
		equal(s, before.GetCreationTimestamp(), after.GetCreationTimestamp(), "creationTimestamp")
	}},
	{"update/unknown field", "a typo isn't ignored", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		obj.Object["datum"] = map[string]any{"a": "1"}
		refusal[*deploy.InvalidError](s, s.port().Update, obj, deploy.UpdateOptions{})
	}},
	{"update/status", "an update of the object can't change the status", func(s *scene) {
		obj := s.create("operkit", s.widget("{size: 1}"))
		s.ok(unstructured.SetNestedField(obj.Object, "Ready", "status", "phase"))
		after := s.update("operkit", obj)
		s.lacks(after.Object, "status")
		s.unchanged(obj, after)
	}},
	{"update/input", "a caller may use its object for something else afterwards", func(s *scene) {
		obj := with(s.create("operkit", s.settings("{a: '1'}")), map[string]any{"a": "2"})
		before := obj.DeepCopy()
		s.update("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
	}},
}
