package deploytest

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// statusApply returns the options of an apply of the status.
func statusApply(manager string) deploy.ApplyOptions {
	return deploy.ApplyOptions{FieldManager: manager, Subresource: "status"}
}

// withStatus returns the intent of a Widget's status.
func (s *scene) withStatus(status string) *unstructured.Unstructured {
	s.Helper()
	return s.object("{apiVersion: deploytest.operkit.dev/v1, kind: Widget, metadata: {name: one}, status: " + status + "}")
}

// statusOf returns the status of an object as YAML, such as "phase: Ready".
func (s *scene) statusOf(obj *unstructured.Unstructured) string {
	s.Helper()
	text, err := yaml.Marshal(obj.Object["status"])
	s.ok(err)
	return string(text)
}

// reports applies a status by ApplyStatus, and ends the case unless the action is want.
func (s *scene) reports(want deploy.Action, m *deploy.Manager, status string) deploy.Result {
	s.Helper()
	result, err := m.ApplyStatus(s.Context(), deploy.RefOf(s.withStatus("{}")), func(*unstructured.Unstructured) (map[string]any, error) {
		return s.withStatus(status).Object["status"].(map[string]any), nil
	})
	if want != deploy.Conflicted {
		s.ok(err)
	}
	equal(s, want, result.Action, "action")
	return result
}

const (
	ready  = "conditions: [{type: Ready, status: 'True'}]"
	synced = "conditions: [{type: Synced, status: 'True'}]"
)

var statusApplyCases = []Case{
	{"status/applied by several managers", "each manager owns its own conditions, and removes only these", func(s *scene) {
		s.create("operkit", s.widget("{size: 1}"))
		s.send(s.withStatus("{"+ready+"}"), statusApply("a"))
		obj := s.send(s.withStatus("{"+synced+"}"), statusApply("b"))
		equal(s, "conditions:\n- status: \"True\"\n  type: Ready\n- status: \"True\"\n  type: Synced\n", s.statusOf(obj), "status of both")
		equal(s, []string{`.status.conditions[type="Ready"].status`, `.status.conditions[type="Ready"].type`},
			s.owned(obj, "a Apply status"), "fields of a")
		equal(s, any(map[string]any{"size": int64(1)}), obj.Object["spec"], "spec")
		obj = s.send(s.withStatus("{}"), statusApply("a"))
		equal(s, "conditions:\n- status: \"True\"\n  type: Synced\n", s.statusOf(obj), "status without a's")
		s.unchanged(obj, s.send(s.withStatus("{"+synced+"}"), statusApply("b")))
	}},
	{"status/applied against others", "a field of another manager is a conflict that names it, unless it is forced", func(s *scene) {
		s.create("operkit", s.widget("{size: 1}"))
		s.send(s.withStatus("{phase: Ready}"), statusApply("a"))
		conflict := refusal[*deploy.ConflictError](s, s.port().Apply, s.withStatus("{phase: Failed}"), statusApply("b"))
		equal(s, ".status.phase", conflict.Fields[0].Field, "contested field")
		equal(s, "a", conflict.Fields[0].Manager, "its manager")
		forced := statusApply("b")
		forced.Force = true
		equal(s, "phase: Failed\n", s.statusOf(s.send(s.withStatus("{phase: Failed}"), forced)), "status")
	}},
	{"status/applied as a dry run", "a dry run of a status stores nothing", func(s *scene) {
		before := s.create("operkit", s.widget("{size: 1}"))
		dry := statusApply("a")
		dry.DryRun = true
		equal(s, "phase: Ready\n", s.statusOf(s.send(s.withStatus("{phase: Ready}"), dry)), "status in the response")
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"status/applied to nothing", "an apply of a status creates no object, and needs the subresource", func(s *scene) {
		s.widgets()
		refusal[*deploy.NotFoundError](s, s.port().Apply, s.withStatus("{phase: Ready}"), statusApply("a"))
		s.absent(deploy.RefOf(s.withStatus("{}")))
		settings := s.create("operkit", s.settings("{}"))
		intent := s.bare()
		intent.Object["status"] = map[string]any{"phase": "Ready"}
		refusal[*deploy.NotFoundError](s, s.port().Apply, intent, statusApply("a"))
		s.unchanged(settings, s.get(deploy.RefOf(settings)))
	}},
	{"status/applied to an older object", "the resourceVersion is a precondition of a status, too", func(s *scene) {
		before := s.create("operkit", s.widget("{size: 1}"))
		s.merge("kubectl", deploy.RefOf(before), `{"spec":{"size":2}}`)
		intent := s.withStatus("{phase: Ready}")
		intent.SetResourceVersion(before.GetResourceVersion())
		refusal[*deploy.StaleError](s, s.port().Apply, intent, statusApply("a"))
	}},
	{"status/ApplyStatus", "a status that is applied already costs no call, whatever others have in it", func(s *scene) {
		obj := s.create("operkit", s.widget("{size: 1}"))
		s.watch(widget)
		m, calls := s.manager()
		s.reports(deploy.Configured, m, "{phase: Ready, ready: 0, "+ready+"}")
		s.asked(calls, "apply Widget one")
		s.patch(deploy.RefOf(obj), statusPatch("other", `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Theirs","status":"True"}]}}`))
		for range 2 {
			equal(s, 0, s.reports(deploy.Unchanged, m, "{phase: Ready, ready: 0, "+ready+"}").Calls, "calls")
		}
		s.asked(calls)
		after := s.reports(deploy.Configured, m, "{phase: Ready}")
		equal(s, 1, after.Calls, "calls")
		equal(s, "conditions:\n- status: \"True\"\n  type: Theirs\nphase: Ready\n", s.statusOf(after.Object), "status")
		s.reports(deploy.Unchanged, m, "{phase: Ready}")
		s.reports(deploy.Configured, m, "{}")
		equal(s, 0, s.reports(deploy.Unchanged, m, "{}").Calls, "calls for nothing")
	}},
	{"status/ApplyStatus after a restart", "what was applied is found again by another process", func(s *scene) {
		s.create("operkit", s.widget("{size: 1}"))
		s.reports(deploy.Configured, s.managerOf(s.Others), "{phase: Ready, "+ready+"}")
		s.watch(widget)
		equal(s, 0, s.reports(deploy.Unchanged, s.managerOf(s.Cluster), "{phase: Ready, "+ready+"}").Calls, "calls")
	}},
	{"status/ApplyStatus and others", "a contested field is a conflict, and taken back if we applied the status before", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		s.watch(widget)
		theirs := s.managerOf(s.Cluster, deploy.FieldManager("other"))
		s.reports(deploy.Configured, theirs, "{phase: Ready}")
		m := s.managerOf(s.Cluster)
		refused := s.reports(deploy.Conflicted, m, "{phase: Failed}")
		equal(s, 1, refused.Calls, "calls")
		conflict := fails[*deploy.ConflictError](s, refused.Err)
		equal(s, ".status.phase", conflict.Fields[0].Field, "contested field")
		s.reports(deploy.Configured, m, "{ready: 1}")
		taken := s.reports(deploy.Configured, m, "{ready: 1, phase: Failed}")
		equal(s, 2, taken.Calls, "calls")
		equal(s, 1, len(taken.Taken), "fields taken over")
		equal(s, "phase: Failed\nready: 1\n", s.statusOf(s.get(ref)), "status")
	}},
	{"status/ApplyStatus after SetStatus", "fields that the same manager wrote before are no conflict", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		m := s.managerOf(s.Cluster)
		_, err := m.SetStatus(s.Context(), ref, func(*unstructured.Unstructured) (map[string]any, error) {
			return map[string]any{"phase": "Pending"}, nil
		})
		s.ok(err)
		equal(s, "phase: Ready\n", s.statusOf(s.reports(deploy.Configured, m, "{phase: Ready}").Object), "status")
	}},
}
