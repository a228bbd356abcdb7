package deploytest

import (
	"context"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// removes has a Manager delete objects, and reports it unless that becomes of them.
func (s *scene) removes(m *deploy.Manager, objects []*unstructured.Unstructured, want []deploy.Action, options ...deploy.Option) deploy.Results {
	s.Helper()
	results, _ := m.Delete(s.Context(), objects, options...)
	got := []deploy.Action{}
	for _, result := range results {
		got = append(got, result.Action)
	}
	equal(s, want, got, "actions")
	return results
}

var removalCases = []Case{
	{"removal/of ours", "a deletion costs one request, and nothing when there is nothing to delete", func(s *scene) {
		m, calls := s.manager()
		ours := []*unstructured.Unstructured{s.settings("{a: '1'}")}
		s.becomes(deploy.Created, m, ours[0])
		calls.take()
		s.removes(m, ours, []deploy.Action{deploy.Removed}, deploy.DryRun())
		s.asked(calls, "delete ConfigMap settings dry-run")
		s.removes(m, ours, []deploy.Action{deploy.Removed})
		s.asked(calls, "delete ConfigMap settings")
		s.removes(m, ours, []deploy.Action{deploy.Skipped})
		s.asked(calls)
	}},
	{"removal/of others'", "what this manager never applied stays, unless it is said twice", func(s *scene) {
		s.create("kubectl", s.settings("{a: '1'}"))
		m, calls := s.manager()
		theirs := []*unstructured.Unstructured{s.settings("{}")}
		results := s.removes(m, theirs, []deploy.Action{deploy.Conflicted})
		s.is(fails[*deploy.OwnedError](s, results[0].Err).Deletion, "Deletion is false")
		s.asked(calls)
		s.removes(m, theirs, []deploy.Action{deploy.Removed}, deploy.EvenForeign())
		s.absent(deploy.RefOf(theirs[0]))
	}},
	{"removal/of an unknown kind", "what can't exist is gone", func(s *scene) {
		m, calls := s.manager()
		obj := s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Nothing, metadata: {name: it}}")
		s.removes(m, []*unstructured.Unstructured{obj}, []deploy.Action{deploy.Skipped})
		s.asked(calls)
	}},
	{"removal/in reverse", "what was made last may need what was made first", func(s *scene) {
		m, calls := s.manager()
		objects := []*unstructured.Unstructured{s.config("a", "{}"), s.config("b", "{}"), s.config("c", "{}")}
		_, err := m.Apply(s.Context(), objects)
		s.ok(err)
		calls.take()
		s.removes(m, objects, []deploy.Action{deploy.Removed, deploy.Removed, deploy.Removed})
		equal(s, []string{"delete ConfigMap c", "delete ConfigMap b", "delete ConfigMap a"}, calls.take(), "requests")
	}},
	{"removal/until it is gone", "who waits in vain is told for whom", func(s *scene) {
		m, _ := s.manager()
		held := s.widget("{size: 1}")
		held.SetFinalizers([]string{"operkit.dev/a"})
		ref := s.becomes(deploy.Created, m, held).Ref
		ctx, cancel := context.WithTimeout(s.Context(), 300*time.Millisecond)
		defer cancel()
		results, _ := m.Delete(ctx, []*unstructured.Unstructured{held}, deploy.UntilGone())
		late := fails[*deploy.TimeoutError](s, results[0].Err)
		s.is(strings.Contains(late.Reason, "operkit.dev/a"), "reason: %s", late.Reason)
		s.merge("operkit", ref, `{"metadata":{"finalizers":null}}`)
		s.absent(ref)
	}},
	{"removal/gone", "what is still there is told, others' objects don't count", func(s *scene) {
		m, _ := s.manager()
		objects := []*unstructured.Unstructured{s.config("a", "{}"), s.config("b", "{}"), s.config("c", "{}")}
		s.becomes(deploy.Created, m, objects[0])
		s.create("kubectl", objects[1])
		remaining, err := m.Gone(s.Context(), objects)
		s.ok(err)
		equal(s, []deploy.Ref{deploy.RefOf(objects[0])}, remaining, "what remains")
	}},
}
