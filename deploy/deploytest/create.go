package deploytest

import (
	"errors"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var createCases = []Case{
	{"create/stored", "the answer is the object as it is stored", func(s *scene) {
		obj := s.create("operkit", s.settings("{a: '1'}"))
		s.is(obj.GetUID() != "" && obj.GetResourceVersion() != "" && !obj.GetCreationTimestamp().Time.IsZero(), "metadata: %v", obj.Object["metadata"])
		equal(s, s.get(deploy.RefOf(obj)).Object, obj.Object, "the answer")
	}},
	{"create/exists", "who would be first must know", func(s *scene) {
		first := s.create("operkit", s.settings("{a: '1'}"))
		_, err := s.port().Create(s.Context(), s.settings("{a: '2'}"), deploy.CreateOptions{FieldManager: "operkit"})
		exists := fails[*deploy.AlreadyExistsError](s, err)
		equal(s, deploy.RefOf(first), exists.Ref, "what exists")
		s.unchanged(first, s.get(deploy.RefOf(first)))
	}},
	{"create/generateName", "names are found by the cluster", func(s *scene) {
		manifest := s.unplaced("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-}}")
		manifest.SetNamespace(s.Namespace)
		first, second := s.create("operkit", manifest), s.create("operkit", manifest)
		s.is(strings.HasPrefix(first.GetName(), "run-") && len(first.GetName()) > len("run-"), "name %q", first.GetName())
		s.is(first.GetName() != second.GetName(), "both are %s", first.GetName())
		equal(s, "", manifest.GetName(), "name in the caller's manifest")
	}},
	{"create/owner of fields", "what was created by others is theirs", func(s *scene) {
		obj := s.create("kubectl-create", s.settings("{a: '1'}"))
		equal(s, []string{"kubectl-create Update"}, entries(obj), "entries")
		s.is(contains(s.owned(obj, "kubectl-create Update"), ".data.a"), "owned: %v", s.owned(obj, "kubectl-create Update"))
	}},
	{"create/dry run", "trying stores nothing", func(s *scene) {
		obj, err := s.port().Create(s.Context(), s.settings("{a: '1'}"), deploy.CreateOptions{FieldManager: "operkit", DryRun: true})
		s.ok(err)
		equal(s, map[string]string{"a": "1"}, data(obj), "data of the answer")
		s.absent(deploy.RefOf(obj))
	}},
	{"create/dry run of what exists", "a dry run finds what would fail", func(s *scene) {
		s.create("operkit", s.settings("{}"))
		_, err := s.port().Create(s.Context(), s.settings("{}"), deploy.CreateOptions{DryRun: true})
		fails[*deploy.AlreadyExistsError](s, err)
	}},
	{"create/generation", "observedGeneration is compared to it", func(s *scene) {
		equal(s, int64(1), s.create("operkit", s.widget("{size: 1}")).GetGeneration(), "generation")
	}},
	{"create/with a version", "what was read isn't new", func(s *scene) {
		obj := s.settings("{}")
		obj.SetResourceVersion("1")
		_, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{})
		fails[*deploy.InvalidManifestError](s, err)
	}},
	{"create/in no such namespace", "the namespace comes first", func(s *scene) {
		obj := s.settings("{}")
		obj.SetNamespace(s.Namespace + "-none")
		_, err := s.Others.Port().Create(s.Context(), obj, deploy.CreateOptions{})
		fails[*deploy.NotFoundError](s, err)
	}},
	{"create/unsendable", "what can't be sent costs no request", unsendable},
	{"create/bad name", "a name that isn't one is refused, not changed", func(s *scene) {
		obj := s.config("Not_A_Name", "{}")
		_, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{})
		refused := fails[*deploy.InvalidError](s, err)
		s.is(len(refused.Causes) > 0 && refused.Causes[0].Field == "metadata.name", "causes: %v", refused.Causes)
	}},
	{"create/unknown field", "a typo isn't dropped in silence", func(s *scene) {
		obj := s.settings("{}")
		obj.Object["datum"] = map[string]any{"a": "1"}
		_, err := s.port().Create(s.Context(), obj, deploy.CreateOptions{})
		fails[*deploy.InvalidError](s, err)
		s.absent(deploy.RefOf(obj))
	}},
	{"create/against the schema", "what a definition forbids is named", func(s *scene) {
		_, err := s.port().Create(s.Context(), s.widget("{size: -1}"), deploy.CreateOptions{})
		refused := fails[*deploy.InvalidError](s, err)
		s.is(len(refused.Causes) == 1 && refused.Causes[0].Field == "spec.size", "causes: %v", refused.Causes)
	}},
	{"create/input", "callers go on using what they gave", func(s *scene) {
		obj := s.settings("{a: '1'}")
		before := obj.DeepCopy()
		created := s.create("operkit", obj)
		equal(s, before.Object, obj.Object, "the caller's object")
		created.SetLabels(map[string]string{"mine": "yes"})
		s.is(len(s.get(deploy.RefOf(obj)).GetLabels()) == 0, "who changes an answer changes the cluster")
	}},
}

func unsendable(s *scene) {
	unnamed := s.settings("{}")
	unnamed.SetName("")
	unplaced := s.settings("{}")
	unplaced.SetNamespace("")
	placed := s.object("{apiVersion: v1, kind: Namespace, metadata: {name: other}}")
	for reason, obj := range map[string]*unstructured.Unstructured{
		"no name": unnamed, "no namespace": unplaced, "a namespace for what has none": placed,
		"a path for a name": s.config("a/status", "{}"), "a name that leads elsewhere": s.config("'..'", "{}"),
	} {
		read := obj.DeepCopy()
		read.SetResourceVersion("1")
		ctx, ref, port := s.Context(), deploy.RefOf(obj), s.Others.Port()
		for verb, call := range map[string]func() error{
			"create": func() error { _, err := port.Create(ctx, obj, deploy.CreateOptions{}); return err },
			"update": func() error { _, err := port.Update(ctx, read, deploy.UpdateOptions{}); return err },
			"apply": func() error {
				_, err := port.Apply(ctx, obj, deploy.ApplyOptions{FieldManager: "operkit"})
				return err
			},
			"get":    func() error { _, err := port.Get(ctx, ref); return err },
			"patch":  func() error { _, err := port.Patch(ctx, ref, merging("operkit", "{}")); return err },
			"delete": func() error { return port.Delete(ctx, ref, deploy.DeleteOptions{}) },
		} {
			err := call()
			var invalid *deploy.InvalidManifestError
			s.is(errors.As(err, &invalid), "%s with %s: %v (%T)", verb, reason, err, err)
		}
	}
}

func contains(list []string, item string) bool {
	for _, one := range list {
		if one == item {
			return true
		}
	}
	return false
}
