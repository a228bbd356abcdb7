package deploytest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// actions returns the actions of results, in their order.
func actions(results deploy.Results) []deploy.Action {
	return each(results, func(result deploy.Result) deploy.Action { return result.Action })
}

// applies applies objects by a Manager, and fails the case unless each result has the wanted action.
func (s *scene) applies(want deploy.Action, m *deploy.Manager, objects ...*unstructured.Unstructured) deploy.Results {
	s.Helper()
	results, err := m.Apply(s.Context(), objects)
	s.ok(err)
	equal(s, times(len(objects), want), actions(results), "actions")
	return results
}

func times[T any](n int, one T) []T { return slices.Repeat([]T{one}, n) }

var setCases = []Case{
	{"sets/order of results", "results are in the order of the objects, even if several objects are applied at once", func(s *scene) {
		m, calls := s.manager()
		objects := []*unstructured.Unstructured{}
		want := []string{}
		for _, name := range strings.Split("f l o w e r", " ") {
			objects = append(objects, s.config(name, "{}"))
			want = append(want, "apply ConfigMap "+name)
		}
		for i, result := range s.applies(deploy.Created, m, objects...) {
			equal(s, deploy.RefOf(objects[i]), result.Ref, "object of the result")
		}
		s.asked(calls, want...)
		s.applies(deploy.Unchanged, m, objects...)
		s.asked(calls)
	}},
	{"sets/definition and its objects", "custom resources are applied once their kind is served", definitionAndObjects},
	{"sets/namespace and its objects", "a namespace is applied before the objects in it", func(s *scene) {
		name := s.Namespace + "-z"
		inside := in(name, s.settings("{a: '1'}"))
		around := s.unplaced("{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}")
		s.applies(deploy.Created, s.managerOf(s.Others), inside, around)
		s.others().delete(deploy.RefOf(around))
	}},
	{"sets/one fails", "if an object fails, the others are still applied", func(s *scene) {
		m, calls := s.manager()
		bad := s.config("bad", "{a: '1'}")
		bad.Object["datum"] = "x"
		results, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.config("a", "{}"), bad, s.config("b", "{}")})
		fails[*deploy.InvalidError](s, err)
		equal(s, []deploy.Action{deploy.Created, deploy.Failed, deploy.Created}, actions(results), "actions")
		equal(s, 3, len(calls.take()), "requests")
	}},
	{"sets/stop on failure", "on request, the first failure stops the call", func(s *scene) {
		m, _ := s.manager(deploy.StopOnFailure())
		bad := s.config("bad", "{a: '1'}")
		bad.Object["datum"] = "x"
		results, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.config("a", "{}"), bad, s.config("b", "{}")})
		fails[*deploy.InvalidError](s, err)
		equal(s, []deploy.Action{deploy.Created, deploy.Failed}, actions(results), "actions")
		s.absent(deploy.RefOf(s.config("b", "{}")))
	}},
	{"sets/given twice", "if two manifests are for one object, neither is sent", func(s *scene) {
		m, calls := s.manager()
		_, err := m.Apply(s.Context(), []*unstructured.Unstructured{s.config("a", "{}"), s.settings("{a: '1'}"), s.settings("{a: '2'}")})
		equal(s, deploy.RefOf(s.settings("{}")), fails[*deploy.InvalidManifestError](s, err).Ref, "object in the error")
		s.asked(calls)
	}},
	{"sets/ready", "an apply can wait until its objects are ready", func(s *scene) {
		m, _ := s.manager()
		looks := 0
		result := s.becomes(deploy.Created, m, s.widget("{size: 1}"), deploy.WaitReady(func(obj *unstructured.Unstructured) bool {
			if looks++; looks == 1 {
				_, err := s.port().Patch(s.Context(), deploy.RefOf(obj), statusPatch("controller", `{"status":{"phase":"Ready"}}`))
				s.is(err == nil, "status: %v", err)
			}
			phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
			return phase == "Ready"
		}))
		equal(s, any(map[string]any{"phase": "Ready"}), result.Object.Object["status"], "status of the result")
	}},
	{"sets/never ready", "the error of a wait names the object that isn't ready", func(s *scene) {
		m, _ := s.manager()
		ctx, cancel := context.WithTimeout(s.Context(), 3*time.Second)
		defer cancel()
		results, err := m.Apply(ctx, []*unstructured.Unstructured{s.settings("{}")}, deploy.WaitReady(func(*unstructured.Unstructured) bool { return false }))
		equal(s, deploy.RefOf(s.settings("{}")), fails[*deploy.TimeoutError](s, err).Ref, "object in the error")
		equal(s, []deploy.Action{deploy.Failed}, actions(results), "actions")
		s.get(results[0].Ref)
	}},
}

func definitionAndObjects(s *scene) {
	group := s.Namespace + ".deploytest.operkit.dev"
	// Cases that look kinds up by name run beside this one: no name of the kind may be that of another.
	definition := s.unplaced(strings.NewReplacer(widget.Group, group, "Widget", "Gizmo", "widget", "gizmo", "dtw", "dtg").Replace(widgetDefinition))
	obj := s.unplaced("{apiVersion: " + group + "/v1, kind: Gizmo, metadata: {name: one, namespace: " + s.Namespace + "}, spec: {size: 1}}")
	r := &recorder{Cluster: s.Others}
	m := s.managerOf(r)
	_, err := m.Get(s.Context(), deploy.RefOf(obj))
	fails[*deploy.KindUnknownError](s, err)
	s.applies(deploy.Created, m, obj, s.settings("{a: '1'}"), definition)
	s.applies(deploy.Unchanged, m, obj, s.settings("{a: '1'}"), definition)
	s.asked(r, "apply CustomResourceDefinition gizmos."+group, "apply ConfigMap settings", "apply Gizmo one")
	// Delete both here. If only the definition is deleted, a server may take a minute to find the objects of the kind.
	s.removes(m, []*unstructured.Unstructured{definition, obj}, times(2, deploy.Removed))
}
