package deploytest

import (
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// try applies one object by a Manager and returns the result.
func (s *scene) try(m *deploy.Manager, obj *unstructured.Unstructured, options ...deploy.Option) deploy.Result {
	s.Helper()
	results, err := m.Apply(s.Context(), []*unstructured.Unstructured{obj}, options...)
	if len(results) != 1 {
		s.Fatalf("%d results of one object: %v", len(results), err)
	}
	s.is((err == nil) == (results[0].Err == nil), "error %v, error of the result %v", err, results[0].Err)
	return results[0]
}

// becomes applies one object by a Manager, and ends the case unless the result has the wanted action.
func (s *scene) becomes(want deploy.Action, m *deploy.Manager, obj *unstructured.Unstructured, options ...deploy.Option) deploy.Result {
	s.Helper()
	result := s.try(m, obj, options...)
	if result.Action != want {
		s.Fatalf("%s: action %s, want %s: %v", result.Ref, result.Action, want, result.Err)
	}
	return result
}

// managing creates obj with a new Manager. It returns the Manager, a recorder of the Manager's later requests, and the
// created object.
func (s *scene) managing(
	obj *unstructured.Unstructured, options ...deploy.Option,
) (*deploy.Manager, *recorder, *unstructured.Unstructured) {
	s.Helper()
	m, calls := s.manager(options...)
	made := s.becomes(deploy.Created, m, obj).Object
	calls.take()
	return m, calls, made
}

// settles fails the case unless a new Manager with these options, as after a restart, finds the object unchanged and
// sends no request.
func (s *scene) settles(obj *unstructured.Unstructured, options ...deploy.Option) {
	s.Helper()
	m, calls := s.manager(options...)
	for range 3 {
		s.becomes(deploy.Unchanged, m, obj)
	}
	s.asked(calls)
}

var managerCases = []Case{
	{"manager/creates", "a new object costs one request", func(s *scene) {
		m, calls := s.manager()
		result := s.becomes(deploy.Created, m, s.settings("{a: '1'}"))
		s.asked(calls, "apply ConfigMap settings")
		equal(s, 1, result.Calls, "calls")
		equal(s, 0, len(result.Changes), "changes of a new object")
		equal(s, s.get(result.Ref).Object, result.Object.Object, "the object of the result")
	}},
	{"manager/unchanged", "an unchanged object costs no request, also after a restart", func(s *scene) {
		m, calls, _ := s.managing(s.settings("{a: '1'}"))
		for range 5 {
			s.becomes(deploy.Unchanged, m, s.settings("{a: '1'}"))
		}
		s.asked(calls)
		s.settles(s.settings("{a: '1'}"))
	}},
	{"manager/unchanged in a watched kind", "an unchanged object that informers show costs no request either", func(s *scene) {
		s.watch(configMap)
		m, _, _ := s.managing(s.settings("{a: '1'}"))
		s.becomes(deploy.Configured, m, s.settings("{a: '2'}"))
		s.settles(s.settings("{a: '2'}"))
	}},
	{"manager/configures", "a change costs one request, and the result has the changes", func(s *scene) {
		m, calls, _ := s.managing(s.settings("{a: '1', b: '2'}"))
		result := s.becomes(deploy.Configured, m, s.settings("{a: '3', c: '4'}"))
		s.asked(calls, "apply ConfigMap settings")
		changes := each(result.Changes, deploy.Change.String)
		equal(s, []string{`.data.a: "1" -> "3"`, `.data.b: "2" -> none`, `.data.c: none -> "4"`}, changes, "changes")
		s.settles(s.settings("{a: '3', c: '4'}"))
	}},
	{"manager/drift", "changes of our fields by others are undone at once", drift},
	{"manager/additions", "fields that others add are left alone", func(s *scene) {
		m, calls, made := s.managing(s.settings("{a: '1'}"))
		s.merge("kubectl", deploy.RefOf(made), `{"data":{"b":"2"},"metadata":{"labels":{"x":"y"}}}`)
		s.becomes(deploy.Unchanged, m, s.settings("{a: '1'}"))
		s.asked(calls)
	}},
	{"manager/settles", "values that a server defaults, rewrites or drops don't count as drift", func(s *scene) {
		m, _ := s.manager()
		for _, text := range []string{
			"{apiVersion: v1, kind: Secret, metadata: {name: password}, stringData: {password: secret}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: bare, labels: {}, annotations: null}, data: {}}",
			"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{name: dns, port: 53}, {name: udp, port: 53, protocol: UDP}]}}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]}",
			`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {creationTimestamp: null, labels: {app: web}}
    spec:
      volumes: [{name: tmp, emptyDir: {}}]
      containers: [{name: web, image: 'x:1', env: [{name: A, value: ''}], args: [], ports: [{containerPort: 80}], resources: {requests: {cpu: 1000m, memory: '1073741824'}}, securityContext: {}}]`,
		} {
			s.becomes(deploy.Created, m, s.object(text))
			s.settles(s.object(text))
		}
		custom := s.widget("{size: 3, words: [], parts: [{name: a}]}")
		custom.Object["status"] = map[string]any{"phase": "Ready"}
		s.becomes(deploy.Created, m, custom)
		s.settles(custom)
	}},
	{"manager/dry run", "a dry run reports what would change, and stores nothing", func(s *scene) {
		m, calls := s.manager()
		ref := s.becomes(deploy.Created, m, s.settings("{a: '1'}"), deploy.DryRun()).Ref
		s.asked(calls, "apply ConfigMap settings dry-run")
		s.absent(ref)
		before := s.becomes(deploy.Created, m, s.settings("{a: '1'}")).Object
		calls.take()
		result := s.becomes(deploy.Configured, m, s.settings("{a: '2'}"), deploy.DryRun())
		s.asked(calls, "apply ConfigMap settings dry-run")
		equal(s, 1, len(result.Changes), "changes")
		s.unchanged(before, s.get(ref))
	}},
	{"manager/diff", "a diff shows what an apply would change, as the cluster computes it", func(s *scene) {
		m, calls, before := s.managing(s.settings("{a: '1'}"))
		differences, err := m.Diff(s.Context(), []*unstructured.Unstructured{s.settings("{a: '2'}"), s.config("new", "{b: '1'}")})
		s.ok(err)
		s.asked(calls, "apply ConfigMap settings dry-run", "apply ConfigMap new dry-run")
		equal(s, deploy.Configured, differences[0].Action, "action for the changed object")
		equal(s, deploy.Created, differences[1].Action, "action for the new object")
		s.is(len(differences[0].Changes) == 1 && differences[0].Changes[0].Path == ".data.a", "changes: %v", differences[0].Changes)
		s.is(strings.Contains(differences[0].Unified, "+  a: \"2\""), "unified: %s", differences[0].Unified)
		s.unchanged(before, s.get(deploy.RefOf(before)))
	}},
	{"manager/two managers", "two operators can share an object without endless writes", func(s *scene) {
		one, _ := s.manager(deploy.FieldManager("one"))
		two, _ := s.manager(deploy.FieldManager("two"))
		s.becomes(deploy.Created, one, s.settings("{a: '1'}"))
		s.becomes(deploy.Configured, two, s.settings("{b: '2'}"))
		s.settles(s.settings("{a: '1'}"), deploy.FieldManager("one"))
		s.settles(s.settings("{b: '2'}"), deploy.FieldManager("two"))
		obj := s.becomes(deploy.Configured, two, s.settings("{b: '3'}")).Object
		equal(s, map[string]string{"a": "1", "b": "3"}, data(obj), "data")
	}},
	{"manager/being deleted", "an object that is being deleted isn't changed, and isn't created again before it is gone", func(s *scene) {
		ref := deploy.RefOf(s.held("operkit.dev/a"))
		m, calls := s.manager()
		result := s.becomes(deploy.Skipped, m, s.widget("{size: 2}"))
		equal(s, []string{"operkit.dev/a"}, fails[*deploy.TerminatingError](s, result.Err).Finalizers, "finalizers")
		s.asked(calls)
		s.merge("operkit", ref, `{"metadata":{"finalizers":null}}`)
		s.becomes(deploy.Created, m, s.widget("{size: 2}"))
	}},
	{"manager/status", "a new status costs one request, the same status none", managerStatus},
	{"manager/status of what changed meanwhile", "a status that others wrote meanwhile isn't lost", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
		m, _ := s.manager()
		asked := 0
		result, err := m.SetStatus(s.Context(), ref, func(current *unstructured.Unstructured) (map[string]any, error) {
			if asked++; asked == 1 {
				s.merge("kubectl", ref, `{"spec":{"size":2}}`)
			}
			size, _, err := unstructured.NestedInt64(current.Object, "spec", "size")
			return map[string]any{"ready": size}, err
		})
		s.ok(err)
		equal(s, 2, asked, "how often the status was computed")
		equal(s, any(map[string]any{"ready": int64(2)}), result.Object.Object["status"], "status")
	}},
	{"manager/change of what changed meanwhile", "if the object has changed, compute is called again and may decline the change", func(s *scene) {
		ref := deploy.RefOf(s.create("operkit", s.settings("{a: '1'}")))
		m, calls := s.manager()
		take := func(who string, meanwhile func()) deploy.Result {
			result, err := m.Change(s.Context(), ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				meanwhile()
				if current.GetAnnotations()["holder"] != "" {
					return nil, nil
				}
				changed := current.DeepCopy()
				changed.SetAnnotations(map[string]string{"holder": who})
				return changed, nil
			})
			s.ok(err)
			return result
		}
		result := take("us", sync.OnceFunc(func() { s.merge("kubectl", ref, `{"metadata":{"annotations":{"holder":"them"}}}`) }))
		equal(s, deploy.Unchanged, result.Action, "action after others have taken the object")
		s.merge("kubectl", ref, `{"metadata":{"annotations":{"holder":null}}}`)
		calls.take()
		equal(s, deploy.Configured, take("us", func() {}).Action, "action when nobody holds the object")
		equal(s, 1, len(calls.take()), "requests")
		equal(s, "us", s.get(ref).GetAnnotations()["holder"], "holder")
	}},
	{"manager/finalizers", "a finalizer is added or removed only if the object hasn't changed since it was read", func(s *scene) {
		m, _, before := s.managing(s.settings("{a: '1'}"))
		ref := deploy.RefOf(before)
		s.ok(m.AddFinalizer(s.Context(), before, "operkit.dev/a"))
		fails[*deploy.StaleError](s, m.AddFinalizer(s.Context(), before, "operkit.dev/b"))
		held := s.get(ref)
		equal(s, []string{"operkit.dev/a"}, held.GetFinalizers(), "finalizers")
		s.settles(s.settings("{a: '1'}"))
		s.ok(m.RemoveFinalizer(s.Context(), held, "operkit.dev/a"))
		equal(s, 0, len(s.get(ref).GetFinalizers()), "finalizers that are left")
	}},
}

// drifts are the merge patches of changes that others make to an object with data a and b. Before each change the
// object is as it was applied.
var drifts = map[string]string{
	"a value changed":        `{"data":{"a":"9"}}`,
	"a value removed":        `{"data":{"b":null}}`,
	"all values removed":     `{"data":null}`,
	"the annotation removed": `{"metadata":{"annotations":null}}`,
	"managedFields emptied":  `{"metadata":{"managedFields":[{}]}}`,
}

func drift(s *scene) {
	intent := s.settings("{a: '1', b: '2'}")
	m, calls, made := s.managing(intent)
	ref := deploy.RefOf(made)
	for what, edit := range drifts {
		s.merge("kubectl", ref, edit)
		calls.take()
		result := s.try(m, intent)
		equal(s, deploy.Configured, result.Action, "action after "+what)
		equal(s, 1, len(calls.take()), "requests after "+what)
		equal(s, map[string]string{"a": "1", "b": "2"}, data(s.get(ref)), "data after "+what)
		s.settles(intent)
	}
}

func managerStatus(s *scene) {
	ref := deploy.RefOf(s.create("operkit", s.widget("{size: 1}")))
	m, calls := s.manager()
	phase := func(*unstructured.Unstructured) (map[string]any, error) { return map[string]any{"phase": "Ready"}, nil }
	result, err := m.SetStatus(s.Context(), ref, phase)
	s.ok(err)
	equal(s, deploy.Configured, result.Action, "action")
	equal(s, any(map[string]any{"phase": "Ready"}), s.get(ref).Object["status"], "status")
	result, err = m.SetStatus(s.Context(), ref, phase)
	s.ok(err)
	equal(s, deploy.Unchanged, result.Action, "action for the same status again")
	s.asked(calls, "patch status of Widget one")
	absent := ref
	absent.Name = "none"
	result, err = m.SetStatus(s.Context(), absent, phase)
	s.ok(err)
	equal(s, deploy.Skipped, result.Action, "action for an absent object")
	without := deploy.RefOf(s.create("operkit", s.settings("{}")))
	_, err = m.SetStatus(s.Context(), without, phase)
	fails[*deploy.InvalidError](s, err)
}
