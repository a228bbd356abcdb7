package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// delete asks for the deletion of an object.
func (s *scene) delete(ref deploy.Ref) {
	s.Helper()
	s.ok(s.port().Delete(s.Context(), ref, deploy.DeleteOptions{}))
}

var deleteCases = []Case{
	{"delete/gone", "what nothing holds is gone at once", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{}")))
		s.delete(ref)
		s.absent(ref)
	}},
	{"delete/absent", "whoever deletes must know that there was nothing", func(s *scene) {
		ref := deploy.RefOf(s.settings("{}"))
		err := s.port().Delete(s.Context(), ref, deploy.DeleteOptions{})
		equal(s, ref, fails[*deploy.NotFoundError](s, err).Ref, "what is absent")
	}},
	{"delete/its uid", "the object that was looked at is deleted", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()}))
		s.absent(deploy.RefOf(obj))
	}},
	{"delete/other uid", "its successor isn't", func(s *scene) {
		first := s.create("operkit", s.settings("{}"))
		s.delete(deploy.RefOf(first))
		next := s.create("operkit", s.settings("{}"))
		s.is(first.GetUID() != next.GetUID(), "both have the uid %s", next.GetUID())
		err := s.port().Delete(s.Context(), deploy.RefOf(first), deploy.DeleteOptions{UID: first.GetUID()})
		equal(s, deploy.RefOf(first), fails[*deploy.StaleError](s, err).Ref, "what is stale")
		s.unchanged(next, s.get(deploy.RefOf(next)))
	}},
	{"delete/dry run", "trying deletes nothing", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{DryRun: true}))
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/dry run of what is absent", "a dry run finds what would fail", func(s *scene) {
		err := s.port().Delete(s.Context(), deploy.RefOf(s.settings("{}")), deploy.DeleteOptions{DryRun: true})
		fails[*deploy.NotFoundError](s, err)
	}},
	{"delete/no name", "it would be all of them", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		err := s.port().Delete(s.Context(), deploy.Ref{Kind: configMap, Namespace: s.Namespace}, deploy.DeleteOptions{})
		fails[*deploy.InvalidManifestError](s, err)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/unknown propagation", "a typo isn't the default", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		err := s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{Propagation: "Sideways"})
		fails[*deploy.InvalidError](s, err)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/versions rise", "a successor is newer than what it succeeds", func(s *scene) {
		first := s.create("operkit", s.settings("{}"))
		s.delete(deploy.RefOf(first))
		s.changed(first, s.create("operkit", s.settings("{}")))
	}},
}

// held is a Widget that a finalizer holds, and whose deletion has been asked for.
func (s *scene) held(finalizers ...string) *unstructured.Unstructured {
	s.Helper()
	manifest := s.widget("{size: 1}")
	manifest.SetFinalizers(finalizers)
	obj := s.create("operkit", manifest)
	s.delete(deploy.RefOf(obj))
	return s.get(deploy.RefOf(obj))
}

var finalizerCases = []Case{
	{"finalizers/hold", "whoever cleans up has time for it", func(s *scene) {
		obj := s.held("operkit.dev/a")
		s.is(obj.GetDeletionTimestamp() != nil, "no deletionTimestamp")
		equal(s, []string{"operkit.dev/a"}, obj.GetFinalizers(), "finalizers")
		equal(s, int64(2), obj.GetGeneration(), "generation: a deletion is something wanted")
	}},
	{"finalizers/second deletion", "asking again changes nothing", func(s *scene) {
		obj := s.held("operkit.dev/a")
		s.delete(deploy.RefOf(obj))
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"finalizers/last goes", "the object goes with it", func(s *scene) {
		obj := s.held("operkit.dev/a", "operkit.dev/b")
		obj = s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":["operkit.dev/b"]}}`)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":null}}`)
		s.absent(deploy.RefOf(obj))
	}},
	{"finalizers/last goes by an update", "the object goes with it", func(s *scene) {
		obj := s.held("operkit.dev/a")
		obj.SetFinalizers(nil)
		s.update("operkit", obj)
		s.absent(deploy.RefOf(obj))
	}},
	{"finalizers/last goes by an apply", "the object goes with it", func(s *scene) {
		manifest := s.widget("{size: 1}")
		manifest.SetFinalizers([]string{"operkit.dev/a"})
		ref := deploy.RefOf(s.apply("operkit", manifest))
		s.delete(ref)
		_, err := s.port().Apply(s.Context(), s.widget("{size: 1}"), deploy.ApplyOptions{FieldManager: "operkit"})
		s.ok(err)
		s.absent(ref)
	}},
	{"finalizers/none new", "a deletion can't be put off by those who come later", func(s *scene) {
		refuses[*deploy.InvalidError](s, deploy.RefOf(s.held("operkit.dev/a")),
			merging("operkit", `{"metadata":{"finalizers":["operkit.dev/a","operkit.dev/b"]}}`))
	}},
	{"finalizers/no way back", "a deletion can't be taken back", func(s *scene) {
		obj := s.held("operkit.dev/a")
		after := s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"deletionTimestamp":null}}`)
		equal(s, obj.GetDeletionTimestamp(), after.GetDeletionTimestamp(), "deletionTimestamp")
	}},
	{"finalizers/still changes", "whoever cleans up may report it", func(s *scene) {
		obj := s.held("operkit.dev/a")
		after, err := s.port().Patch(s.Context(), deploy.RefOf(obj), statusPatch("controller", `{"status":{"phase":"Cleaning"}}`))
		s.ok(err)
		s.is(after.GetDeletionTimestamp() != nil, "no deletionTimestamp")
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"labels":{"a":"b"}}}`)
	}},
	{"finalizers/name is taken", "a successor has to wait", func(s *scene) {
		s.held("operkit.dev/a")
		_, err := s.port().Create(s.Context(), s.widget("{size: 1}"), deploy.CreateOptions{})
		fails[*deploy.AlreadyExistsError](s, err)
	}},
	{"finalizers/deleted by others", "one who deletes isn't the one who cleans up", func(s *scene) {
		manifest := s.settings("{}")
		manifest.SetFinalizers([]string{"operkit.dev/a"})
		ref := deploy.RefOf(s.create("operkit", manifest))
		s.ok(s.Others.Port().Delete(s.Context(), ref, deploy.DeleteOptions{}))
		s.is(s.get(ref).GetDeletionTimestamp() != nil, "no deletionTimestamp")
		s.merge("operkit", ref, `{"metadata":{"finalizers":null}}`)
		s.absent(ref)
	}},
}
