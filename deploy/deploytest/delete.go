package deploytest

import (
	"context"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// delete requests the deletion of an object.
func (s *scene) delete(ref deploy.Ref) {
	s.Helper()
	s.ok(s.port().Delete(s.Context(), ref, deploy.DeleteOptions{}))
}

var deleteCases = []Case{
	{"delete/gone", "an object without finalizers is gone at once", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{}")))
		s.delete(ref)
		s.absent(ref)
	}},
	{"delete/absent", "the caller must get an error if there is no object to delete", func(s *scene) {
		ref := deploy.RefOf(s.settings("{}"))
		err := s.port().Delete(s.Context(), ref, deploy.DeleteOptions{})
		equal(s, ref, fails[*deploy.NotFoundError](s, err).Ref, "object in the error")
	}},
	{"delete/its uid", "the object that was read is deleted", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()}))
		s.absent(deploy.RefOf(obj))
	}},
	{"delete/other uid", "a new object of the same name isn't deleted", func(s *scene) {
		first := s.create("operkit", s.settings("{}"))
		s.delete(deploy.RefOf(first))
		next := s.create("operkit", s.settings("{}"))
		s.is(first.GetUID() != next.GetUID(), "both have the uid %s", next.GetUID())
		err := s.port().Delete(s.Context(), deploy.RefOf(first), deploy.DeleteOptions{UID: first.GetUID()})
		equal(s, deploy.RefOf(first), fails[*deploy.StaleError](s, err).Ref, "object in the error")
		s.unchanged(next, s.get(deploy.RefOf(next)))
	}},
	{"delete/dry run", "a dry run deletes nothing", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		s.ok(s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{DryRun: true}))
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/dry run of an absent object", "a dry run returns the error that the deletion would return", func(s *scene) {
		err := s.port().Delete(s.Context(), deploy.RefOf(s.settings("{}")), deploy.DeleteOptions{DryRun: true})
		fails[*deploy.NotFoundError](s, err)
	}},
	{"delete/no name", "without a name, a deletion would be for all objects", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		err := s.port().Delete(s.Context(), deploy.Ref{Kind: configMap, Namespace: s.Namespace}, deploy.DeleteOptions{})
		fails[*deploy.InvalidManifestError](s, err)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/unknown propagation", "a misspelt policy isn't taken for the default", func(s *scene) {
		obj := s.create("operkit", s.settings("{}"))
		err := s.port().Delete(s.Context(), deploy.RefOf(obj), deploy.DeleteOptions{Propagation: "Sideways"})
		fails[*deploy.InvalidError](s, err)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"delete/versions rise", "a new object has a newer version than the deleted one", func(s *scene) {
		first := s.create("operkit", s.settings("{}"))
		s.delete(deploy.RefOf(first))
		s.changed(first, s.create("operkit", s.settings("{}")))
	}},
}

// held returns a Widget that is being deleted and has these finalizers.
func (s *scene) held(finalizers ...string) *unstructured.Unstructured {
	s.Helper()
	manifest := s.widget("{size: 1}")
	manifest.SetFinalizers(finalizers)
	obj := s.create("operkit", manifest)
	s.delete(deploy.RefOf(obj))
	return s.get(deploy.RefOf(obj))
}

var finalizerCases = []Case{
	{"finalizers/hold", "controllers have time to clean up", func(s *scene) {
		obj := s.held("operkit.dev/a")
		s.is(obj.GetDeletionTimestamp() != nil, "no deletionTimestamp")
		equal(s, []string{"operkit.dev/a"}, obj.GetFinalizers(), "finalizers")
		equal(s, int64(2), obj.GetGeneration(), "generation after the request of a deletion")
	}},
	{"finalizers/second deletion", "a second deletion changes nothing", func(s *scene) {
		obj := s.held("operkit.dev/a")
		s.delete(deploy.RefOf(obj))
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
	}},
	{"finalizers/last goes", "the object is gone when its last finalizer is removed", func(s *scene) {
		obj := s.held("operkit.dev/a", "operkit.dev/b")
		obj = s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":["operkit.dev/b"]}}`)
		s.unchanged(obj, s.get(deploy.RefOf(obj)))
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"finalizers":null}}`)
		s.absent(deploy.RefOf(obj))
	}},
	{"finalizers/last goes by an update", "the object is gone when its last finalizer is removed", func(s *scene) {
		obj := s.held("operkit.dev/a")
		obj.SetFinalizers(nil)
		s.update("operkit", obj)
		s.absent(deploy.RefOf(obj))
	}},
	{"finalizers/last goes by an apply", "the object is gone when its last finalizer is removed", func(s *scene) {
		ref := deploy.RefOf(s.apply("operkit", finalized(s.widget("{size: 1}"))))
		s.delete(ref)
		_, err := s.port().Apply(s.Context(), s.widget("{size: 1}"), asOperkit)
		s.ok(err)
		s.absent(ref)
	}},
	{"finalizers/none new", "nobody can add a finalizer to delay a deletion that has begun", func(s *scene) {
		refuses[*deploy.InvalidError](s, deploy.RefOf(s.held("operkit.dev/a")),
			merging("operkit", `{"metadata":{"finalizers":["operkit.dev/a","operkit.dev/b"]}}`))
	}},
	{"finalizers/no way back", "a deletion can't be undone", func(s *scene) {
		obj := s.held("operkit.dev/a")
		after := s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"deletionTimestamp":null}}`)
		equal(s, obj.GetDeletionTimestamp(), after.GetDeletionTimestamp(), "deletionTimestamp")
	}},
	{"finalizers/still changes", "a controller that cleans up may report progress", func(s *scene) {
		obj := s.held("operkit.dev/a")
		after := s.patch(deploy.RefOf(obj), statusPatch("controller", `{"status":{"phase":"Cleaning"}}`))
		s.is(after.GetDeletionTimestamp() != nil, "no deletionTimestamp")
		s.merge("operkit", deploy.RefOf(obj), `{"metadata":{"labels":{"a":"b"}}}`)
	}},
	{"finalizers/name is taken", "a new object of the same name has to wait", func(s *scene) {
		s.held("operkit.dev/a")
		refusal[*deploy.AlreadyExistsError](s, s.port().Create, s.widget("{size: 1}"), deploy.CreateOptions{})
	}},
	{"finalizers/deleted by others", "one client may request the deletion, and another client may remove the finalizer", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", finalized(s.settings("{}"))))
		s.others().delete(ref)
		s.is(s.get(ref).GetDeletionTimestamp() != nil, "no deletionTimestamp")
		s.merge("operkit", ref, `{"metadata":{"finalizers":null}}`)
		s.absent(ref)
	}},
}

// removes deletes objects by a Manager, and fails the case unless the results have the actions in want.
func (s *scene) removes(m *deploy.Manager, objects []*unstructured.Unstructured, want []deploy.Action, options ...deploy.Option) deploy.Results {
	s.Helper()
	results, _ := m.Delete(s.Context(), objects, options...)
	equal(s, want, actions(results), "actions")
	return results
}

var removalCases = []Case{
	{"removal/of ours", "a deletion costs one request, or none if there is nothing to delete", func(s *scene) {
		m, calls, _ := s.managing(s.settings("{a: '1'}"))
		ours := []*unstructured.Unstructured{s.settings("{a: '1'}")}
		s.removes(m, ours, []deploy.Action{deploy.Removed}, deploy.DryRun())
		s.asked(calls, "delete ConfigMap settings dry-run")
		s.removes(m, ours, []deploy.Action{deploy.Removed})
		s.asked(calls, "delete ConfigMap settings")
		s.removes(m, ours, []deploy.Action{deploy.Skipped})
		s.asked(calls)
	}},
	{"removal/of others'", "an object that this manager never applied is kept, unless EvenForeign is set", func(s *scene) {
		s.create("kubectl", s.settings("{a: '1'}"))
		m, calls := s.manager()
		theirs := []*unstructured.Unstructured{s.settings("{}")}
		results := s.removes(m, theirs, []deploy.Action{deploy.Conflicted})
		s.is(fails[*deploy.OwnedError](s, results[0].Err).Deletion, "Deletion is false")
		s.asked(calls)
		s.removes(m, theirs, []deploy.Action{deploy.Removed}, deploy.EvenForeign())
		s.absent(deploy.RefOf(theirs[0]))
	}},
	{"removal/of an unknown kind", "an object of an unknown kind doesn't exist", func(s *scene) {
		m, calls := s.manager()
		obj := s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Nothing, metadata: {name: it}}")
		s.removes(m, []*unstructured.Unstructured{obj}, []deploy.Action{deploy.Skipped})
		s.asked(calls)
	}},
	{"removal/in reverse", "an object may need the objects that were created before it", func(s *scene) {
		m, calls := s.manager()
		objects := []*unstructured.Unstructured{s.config("a", "{}"), s.config("b", "{}"), s.config("c", "{}")}
		s.applies(deploy.Created, m, objects...)
		calls.take()
		s.removes(m, objects, []deploy.Action{deploy.Removed, deploy.Removed, deploy.Removed})
		equal(s, []string{"delete ConfigMap c", "delete ConfigMap b", "delete ConfigMap a"}, calls.take(), "requests")
	}},
	{"removal/until it is gone", "the error of a wait names the finalizers that block the deletion", func(s *scene) {
		held := finalized(s.widget("{size: 1}"))
		m, _, _ := s.managing(held)
		ctx, cancel := context.WithTimeout(s.Context(), 300*time.Millisecond)
		defer cancel()
		results, _ := m.Delete(ctx, []*unstructured.Unstructured{held}, deploy.UntilGone())
		late := fails[*deploy.TimeoutError](s, results[0].Err)
		s.is(strings.Contains(late.Reason, "operkit.dev/a"), "reason: %s", late.Reason)
		s.merge("operkit", deploy.RefOf(held), `{"metadata":{"finalizers":null}}`)
		s.absent(deploy.RefOf(held))
	}},
	{"removal/gone", "Gone returns the objects that still exist, without the objects of others", func(s *scene) {
		m, _ := s.manager()
		objects := []*unstructured.Unstructured{s.config("a", "{}"), s.config("b", "{}"), s.config("c", "{}")}
		s.becomes(deploy.Created, m, objects[0])
		s.create("kubectl", objects[1])
		remaining, err := m.Gone(s.Context(), objects)
		s.ok(err)
		equal(s, []deploy.Ref{deploy.RefOf(objects[0])}, remaining, "remaining objects")
	}},
}
