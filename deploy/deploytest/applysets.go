package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// folder returns an ApplySet whose parent is a Secret.
func (s *scene) folder() deploy.ApplySet {
	return deploy.ApplySet{Parent: deploy.Ref{Namespace: s.Namespace, Name: "folder"}}
}

// together applies objects as a set.
func (s *scene) together(m *deploy.Manager, set deploy.ApplySet, objects ...*unstructured.Unstructured) deploy.SetResults {
	s.Helper()
	results, err := m.ApplySet(s.Context(), set, objects)
	s.ok(err)
	return results
}

// managingSet returns a Manager that has applied objects as the ApplySet s.folder(), and a recorder of its later
// requests.
func (s *scene) managingSet(objects ...*unstructured.Unstructured) (*deploy.Manager, *recorder) {
	s.Helper()
	m, calls := s.manager()
	s.together(m, s.folder(), objects...)
	calls.take()
	return m, calls
}

// pruned returns the actions of pruned members by kind and name.
func pruned(results deploy.SetResults) map[string]deploy.Action {
	all := map[string]deploy.Action{}
	for _, member := range results.Pruned {
		all[member.Ref.Kind.Kind+" "+member.Ref.Name] = member.Action
	}
	return all
}

// remembers fails the case unless the annotation of the parent lists these kinds.
func (s *scene) remembers(kinds string) {
	s.Helper()
	parent := s.get(deploy.Ref{Kind: secret, Namespace: s.Namespace, Name: "folder"})
	equal(s, kinds, parent.GetAnnotations()[deploy.SetKindsAnnotation], "kinds on the parent")
	equal(s, s.folder().ID(), parent.GetLabels()[deploy.SetIDLabel], "name of the set on the parent")
}

func (s *scene) account(name string) *unstructured.Unstructured {
	return s.object("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name + "}}")
}

var applySetCases = []Case{
	{"applysets/first", "the parent exists before the first member", func(s *scene) {
		m, calls := s.manager(deploy.Concurrency(1))
		results := s.together(m, s.folder(), s.config("a", "{}"), s.account("b"))
		equal(s, times(2, deploy.Created), actions(results.Applied), "actions")
		equal(s, 0, len(results.Pruned), "members that were pruned")
		requests := calls.take()
		s.is(len(requests) >= 4 && requests[1] == "create Secret folder" && requests[2] == "apply ConfigMap a", "requests: %q", requests)
		for _, result := range results.Applied {
			equal(s, s.folder().ID(), s.get(result.Ref).GetLabels()[deploy.PartOfLabel], "set of "+result.Ref.String())
		}
		s.remembers("ConfigMap,ServiceAccount")
	}},
	{"applysets/unchanged", "applying the same objects again costs a read of the parent and a list of each kind", func(s *scene) {
		m, calls := s.managingSet(s.config("a", "{}"), s.account("b"))
		results := s.together(m, s.folder(), s.config("a", "{}"), s.account("b"))
		equal(s, times(2, deploy.Unchanged), actions(results.Applied), "actions")
		s.asked(calls, "get Secret folder", "list ConfigMap", "list ServiceAccount")
	}},
	{"applysets/prune", "only members that have left the set are deleted", func(s *scene) {
		m, calls := s.managingSet(s.config("a", "{}"), s.config("b", "{}"), s.account("b"))
		s.create("operkit", s.config("c", "{}"))
		other := s.folder()
		other.Parent.Name = "other"
		s.together(m, other, s.config("d", "{}"))
		calls.take()
		results := s.together(m, s.folder(), s.config("a", "{}"))
		equal(s, map[string]deploy.Action{"ConfigMap b": deploy.Removed, "ServiceAccount b": deploy.Removed}, pruned(results), "members")
		s.asked(calls, "get Secret folder", "list ConfigMap", "list ServiceAccount", "delete ConfigMap b", "delete ServiceAccount b", "force Secret folder")
		s.absent(deploy.RefOf(s.config("b", "{}")))
		s.absent(deploy.RefOf(s.account("b")))
		for _, name := range []string{"a", "c", "d"} {
			s.get(deploy.RefOf(s.config(name, "{}")))
		}
		s.remembers("ConfigMap")
	}},
	{"applysets/dry run", "a dry run reports what would be pruned and deletes nothing", func(s *scene) {
		m, _ := s.managingSet(s.config("a", "{}"), s.account("b"))
		dry, err := m.With(deploy.DryRun())
		s.ok(err)
		results := s.together(dry, s.folder(), s.config("a", "{x: '1'}"))
		equal(s, []deploy.Action{deploy.Configured}, actions(results.Applied), "actions")
		equal(s, map[string]deploy.Action{"ServiceAccount b": deploy.Removed}, pruned(results), "members")
		s.get(deploy.RefOf(s.account("b")))
		s.remembers("ConfigMap,ServiceAccount")
		candidates, err := m.PruneCandidates(s.Context(), s.folder(), []*unstructured.Unstructured{s.config("a", "{}")})
		s.ok(err)
		equal(s, map[string]deploy.Action{"ServiceAccount b": deploy.Removed}, pruned(deploy.SetResults{Pruned: candidates}), "candidates")
	}},
	{"applysets/dry run of a new one", "a dry run works for a set that doesn't exist yet", func(s *scene) {
		m, _ := s.manager(deploy.DryRun())
		results := s.together(m, s.folder(), s.config("a", "{}"))
		equal(s, []deploy.Action{deploy.Created}, actions(results.Applied), "actions")
		s.absent(deploy.Ref{Kind: secret, Namespace: s.Namespace, Name: "folder"})
		s.absent(deploy.RefOf(s.config("a", "{}")))
	}},
	{"applysets/failure", "nothing is pruned unless all objects were applied", func(s *scene) {
		m, _ := s.managingSet(s.config("a", "{}"), s.account("b"))
		bad := s.config("a", "{}")
		bad.Object["datum"] = "x"
		results, err := m.ApplySet(s.Context(), s.folder(), []*unstructured.Unstructured{bad, s.config("c", "{}")})
		fails[*deploy.InvalidError](s, err)
		equal(s, []deploy.Action{deploy.Failed, deploy.Created}, actions(results.Applied), "actions")
		s.get(deploy.RefOf(s.account("b")))
		s.remembers("ConfigMap,ServiceAccount")
	}},
	{"applysets/protected", "members that hold data are kept, and stay in the set", func(s *scene) {
		claim := s.object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}")
		m, _ := s.managingSet(s.config("a", "{}"), claim)
		results := s.together(m, s.folder(), s.config("a", "{}"))
		equal(s, map[string]deploy.Action{"PersistentVolumeClaim disk": deploy.Skipped}, pruned(results), "members")
		s.remembers("ConfigMap,PersistentVolumeClaim")
		set := s.folder()
		set.Deletable = append(set.Deletable, claim.GroupVersionKind().GroupKind())
		equal(s, map[string]deploy.Action{"PersistentVolumeClaim disk": deploy.Removed}, pruned(s.together(m, set, s.config("a", "{}"))), "members when the kind is Deletable")
	}},
	{"applysets/others'", "neither the parent of another tool nor a member of another set is taken over", func(s *scene) {
		m, _ := s.managingSet(s.config("a", "{}"))
		set := s.folder()
		set.Tooling = "kubectl/v1"
		_, err := m.ApplySet(s.Context(), set, []*unstructured.Unstructured{s.config("a", "{}")})
		fails[*deploy.OwnedError](s, err)
		other := s.folder()
		other.Parent.Name = "other"
		before := s.get(deploy.RefOf(s.config("a", "{}")))
		results, err := m.ApplySet(s.Context(), other, []*unstructured.Unstructured{s.config("a", "{b: '1'}")})
		fails[*deploy.OwnedError](s, err)
		equal(s, []deploy.Action{deploy.Conflicted}, actions(results.Applied), "actions")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"applysets/empty", "a set of no objects is refused unless PruneAll is set, so that it doesn't delete all members", func(s *scene) {
		m, calls := s.managingSet(s.config("a", "{}"))
		_, err := m.ApplySet(s.Context(), s.folder(), nil)
		fails[*deploy.InvalidSetError](s, err)
		s.asked(calls)
		set := s.folder()
		set.PruneAll = true
		equal(s, map[string]deploy.Action{"ConfigMap a": deploy.Removed}, pruned(s.together(m, set)), "members with PruneAll")
		s.remembers("")
	}},
	{"applysets/label copied", "every object with the label is a member, wherever the label came from", func(s *scene) {
		m, _ := s.managingSet(s.config("a", "{}"))
		s.create("kubectl", labelled(s.config("b", "{}"), deploy.PartOfLabel, s.folder().ID()))
		equal(s, map[string]deploy.Action{"ConfigMap b": deploy.Removed}, pruned(s.together(m, s.folder(), s.config("a", "{}"))), "members")
	}},
}
