package operator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// journal has what the handlers of bells did, in the order in which that happened.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) write(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// has returns the lines that contain a text.
func (j *journal) has(text string) (found []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// styles is an operator of gadgets by sessions, of gears by children, and of bells by handlers.
type styles struct {
	*operator.Operator
	gearing *children
	ringing *handlers
}

// newStyles returns an operator whose handlers write into a journal, by the name of the replica. live reads a bell from
// the cluster.
func newStyles(replica string, j *journal, live func(name string) *unstructured.Unstructured) *styles {
	s := &styles{Operator: operator.New("gadget-operator")}
	s.Control(settings{gadgets})
	s.Drive(watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		s.gearing = &children{env: env, patches: env.Patches(), kinds: []schema.GroupVersionKind{configMaps}, of: cogs}
		return s.gearing, nil
	}))
	s.Drive(watch.NewController(bells, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		rings := func(what string) handler {
			return func(ctx context.Context, bell *unstructured.Unstructured, before, after string) error {
				held := slices.Contains(live(bell.GetName()).GetFinalizers(), holding)
				j.write("%s: %s %s from %q to %q, held: %t", replica, what, bell.GetName(), before, after, held)
				if replica == "first" && strings.Contains(after, "patience") {
					<-ctx.Done()
					j.write("%s: %s %s: %v", replica, what, bell.GetName(), context.Cause(ctx))
					return ctx.Err()
				}
				return nil
			}
		}
		s.ringing = &handlers{env: env, create: rings("create"), update: rings("update"), delete: rings("delete")}
		return s.ringing, nil
	}))
	return s
}

// cogs returns the only child of a gear, none for a gear with the label empty.
func cogs(gear *unstructured.Unstructured) []*unstructured.Unstructured {
	if gear.GetLabels()["empty"] != "" {
		return nil
	}
	child := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"mode": "geared"}}}
	child.SetGroupVersionKind(configMaps)
	child.SetNamespace(gear.GetNamespace())
	child.SetName(gear.GetName())
	return []*unstructured.Unstructured{child}
}

// street is a world with an operator of three styles.
type street struct {
	*world
	*styles
	*running
	journal journal
	someone *person
}

func (s *street) bell(name string) *unstructured.Unstructured { return s.get(bells, name) }

// says runs a command of the operator as somebody who isn't the operator.
func (s *street) says(args ...string) (code int, stdout, stderr string) {
	var out, log bytes.Buffer
	code = newStyles("", nil, nil).Execute(s.t.Context(), append(args, "--kubeconfig", s.someone.kubeconfig), &out, &log)
	return code, out.String(), log.String()
}

// TestForeignStyle runs two reconcilers that know no session, children and handlers, beside one of sessions.
func TestForeignStyle(t *testing.T) {
	t.Parallel()
	s := &street{world: newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))}
	s.someone = s.person("someone", "get", "list", "patch", "create")
	s.styles = newStyles("operator", &s.journal, s.bell)
	s.running = s.run("gadget-operator", s.Operator, s.replica("operator"), "--namespace", s.Namespace,
		"--health.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0", "--watch.filter", "annotation")
	s.resource(gadgets, "one")
	s.resource(gears, "two")
	s.create(`{apiVersion: operator.operkit.dev/v1, kind: Bell, metadata: {name: three}, spec: {of: bronze}}`)
	s.eventually("sessions and children work", func() bool { return s.mode("one") == "old" && s.mode("two") == "geared" })
	s.eventually("handlers work", func() bool { return s.bell("three").GetAnnotations()[handledKey] != "" })
	t.Run("probes and metrics", s.testMetrics)
	t.Run("the filter of the settings, which hides no method", s.testFilter)
	t.Run("pause and finalizer", s.testPause)
	t.Run("temporary patches", s.testPatches)
	t.Run("commands go by what a style can do", s.testCommands)
	t.Run("a resource that is gone is forgotten", s.testForget)
	s.stop()
	t.Run("leadership hand-over", s.testHandOver)
}

func (s *street) testMetrics(t *testing.T) {
	s.eventually("it is ready", func() bool {
		code, _ := ask(t, s.address("health.address"), "/readyz")
		return code == http.StatusOK
	})
	_, page := ask(t, s.address("metrics.address"), "/metrics")
	for _, kind := range []string{"Gadget", "Gear", "Bell"} {
		assert.Contains(t, page, "\noperkit_resources{controller=\""+kind+"\",standing=\"settled\"} 1")
		assert.Contains(t, page, "\ncontroller_runtime_reconcile_time_seconds_count{controller=\""+kind+"\"} ")
	}
	assert.Contains(t, page, `controller_runtime_reconcile_total{controller="Gear",result="success"} `)
	assert.NotContains(t, page, `operkit_components{controller="Gear"`, "gears have no components")
}

func (s *street) testFilter(t *testing.T) {
	assert.Equal(t, []string{"two"}, s.gearing.observed())
	s.change(s.ref(gears, "two"), `{"metadata":{"labels":{"empty":"yes"}}}`) // a label doesn't count
	s.change(s.ref(configMaps, "two"), `{"data":{"mode":"edited"}}`)
	s.eventually("the child is gone, since the parent has no children by now", func() bool { return s.mode("two") == "" })
	s.change(s.ref(gears, "two"), `{"metadata":{"labels":{"empty":null},"annotations":{"example.dev/a":"b"}}}`)
	s.eventually("an annotation counts", func() bool { return s.mode("two") == "geared" })
}

func (s *street) testPause(t *testing.T) {
	three, two := s.ref(bells, "three"), s.ref(gears, "two")
	assert.Equal(t, []string{`operator: create three from "" to "{\"of\":\"bronze\"}", held: true`}, s.journal.has(""), "the finalizer came first")
	s.change(three, `{"spec":{"of":"silver"}}`)
	s.eventually("it is updated", func() bool {
		return len(s.journal.has(`update three from "{\"of\":\"bronze\"}" to "{\"of\":\"silver\"}", held: true`)) == 1
	})
	s.awaitCalm()

	code, out, log := s.says("pause", "bell/three", "gear/two", "-n", s.Namespace)
	require.Zero(t, code, log)
	assert.Equal(t, "Bell "+s.Namespace+"/three paused\nGear "+s.Namespace+"/two paused\n", out)
	s.eventually("gears count it", func() bool { return s.gearing.Tally().Resources[standing.Paused] == 1 })
	mark := s.Mark(t)
	s.change(three, `{"spec":{"of":"gold"}}`)
	s.change(s.ref(configMaps, "two"), `{"data":{"mode":"edited"}}`)
	s.delete(bells, "three")
	s.eventually("bells count it", func() bool { return s.ringing.Tally().Resources[standing.Paused] == 1 })
	time.Sleep(time.Second)
	assert.Empty(t, s.CallsSince(t, mark, s.user).Writes(), "a paused resource isn't touched")
	assert.Equal(t, []string{holding}, s.bell("three").GetFinalizers(), "its deletion waits")
	_, out, _ = s.says("status", "-n", s.Namespace)
	assert.Regexp(t, `(?m)^Gear +two +Unknown +Paused .*its annotation operkit.dev/pause-execution is "true"`, out)

	_, _, log = s.says("resume", "bell/three", "gear/two", "-n", s.Namespace)
	assert.Empty(t, log)
	s.eventually("the child is as it should be again", func() bool { return s.mode("two") == "geared" })
	s.eventually("it is gone", func() bool { return s.get(bells, "three") == nil })
	assert.Equal(t, []string{`operator: delete three from "{\"of\":\"silver\"}" to "", held: true`}, s.journal.has("delete"), "the finalizer goes last")
	writes := s.CallsSince(t, mark, s.user).Writes()
	assert.Equal(t, map[string]int{"patch configmaps": 1, "patch bells.operator.operkit.dev": 1}, writes.Count(), "%s", writes)
	assert.NotNil(t, s.get(two.Kind, two.Name))
}

func (s *street) testPatches(t *testing.T) {
	patch := func(name, target, body string) {
		s.create("{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: " + name + "}, spec: {apiVersion: operator.operkit.dev/v1, " +
			target + ", patchType: strategic, patch: {children: {" + body + "}}}}")
	}
	patch("fast", "kind: Gear, name: two", "configmap/two: {data: {mode: fast}}")
	s.eventually("the child is patched", func() bool { return s.mode("two") == "fast" })
	s.eventually("the patch says so", func() bool { return s.applied("fast").Status == metav1.ConditionTrue })
	s.awaitCalm()
	mark := s.Mark(t)
	s.change(s.ref(gears, "two"), `{"metadata":{"annotations":{"example.dev/a":"c"}}}`)
	time.Sleep(500 * time.Millisecond)
	assert.Empty(t, s.CallsSince(t, mark, s.user).Writes(), "it stays, without a call")
	patch("typo", "kind: Gear, name: two", "configmap/three: {data: {mode: fast}}")
	s.eventually("an object that there isn't is unmatched", func() bool {
		return strings.Contains(s.applied("typo").Message, "configmap/three")
	})
	s.delete(temporarypatch.DefaultKind, "typo")
	s.delete(temporarypatch.DefaultKind, "fast")
	s.eventually("it ends with the patch", func() bool { return s.mode("two") == "geared" })
	s.eventually("both are gone", func() bool {
		return s.get(temporarypatch.DefaultKind, "fast") == nil && s.get(temporarypatch.DefaultKind, "typo") == nil
	})
	s.eventually("nothing is left of them", func() bool {
		return !strings.Contains(s.get(gears, "two").GetAnnotations()["operkit.dev/temporary-patches"], "fast")
	})
}

func (s *street) testCommands(t *testing.T) {
	code, out, log := s.says("status", "-n", s.Namespace)
	assert.Zero(t, code, log)
	assert.Regexp(t, `(?m)^Gadget +one +True`, out)
	assert.Regexp(t, `(?m)^Gear +two +Unknown .*its status has no condition Ready`, out)
	code, out, log = s.says("trigger", "gear/two", "-n", s.Namespace)
	assert.Zero(t, code, log)
	assert.Equal(t, "Gear "+s.Namespace+"/two triggered\n", out)
	for _, command := range []string{"graph", "reconcile"} {
		code, _, log = s.says(command, "gear/two", "-n", s.Namespace)
		assert.Equal(t, 2, code)
		assert.Contains(t, log, "a Gear has no components, which this command needs: choose a resource of operator.operkit.dev/v1 Gadget")
	}
	code, _, log = s.says("render", "-f", file(t, "{apiVersion: operator.operkit.dev/v1, kind: Gear, metadata: {name: two}}"))
	assert.Equal(t, 2, code)
	assert.Contains(t, log, "a Gear has no components")
	_, _, log = s.says("diff", "-n", s.Namespace)
	assert.Equal(t, 1, strings.Count(log, "Gear is left out: it has no components\n"), log)
}

func (s *street) testForget(t *testing.T) {
	s.eventually("the bell is forgotten", func() bool { return len(s.ringing.Tally().Resources) == 0 })
	s.delete(gears, "two")
	s.eventually("the metrics show it", func() bool { return len(s.gearing.Tally().Resources) == 0 })
}

// testHandOver has the first replica lose its Lease while it rings a bell. The second one takes over what is
// unfinished, and leaves alone what is settled.
func (s *street) testHandOver(t *testing.T) {
	s.resource(gears, "four")
	s.create(`{apiVersion: operator.operkit.dev/v1, kind: Bell, metadata: {name: five}, spec: {of: bronze}}`)
	lead := func(name string) (*styles, *running) {
		op := newStyles(name, &s.journal, s.bell)
		flags := append([]string{"--namespace", s.Namespace, "--leader-election.lock", "lease", "--leader-election.namespace", s.Namespace}, brief...)
		return op, s.runs(name, op.Operator, s.replica(name, leading(t)...), flags...)
	}
	_, first := lead("first")
	s.eventually("the first one has done its work", func() bool {
		return s.mode("four") == "geared" && s.bell("five").GetAnnotations()[handledKey] != ""
	})
	s.create(`{apiVersion: operator.operkit.dev/v1, kind: Bell, metadata: {name: six}, spec: {of: patience}}`)
	s.eventually("it rings a bell for long", func() bool { return len(s.journal.has("first: create six")) == 1 })
	second, following := lead("second")
	s.eventually("the second one waits", func() bool { return len(following.log.lines("another replica leads")) > 0 })
	s.steal("thief")
	assert.Equal(t, 1, <-first.code, "who loses the leadership ends")
	mark := s.Mark(t)
	s.eventually("the second one finishes what was begun", func() bool { return s.bell("six").GetAnnotations()[handledKey] != "" })
	s.eventually("it has seen everything", func() bool {
		return second.ringing.Tally().Resources[standing.Settled] == 2 && second.gearing.Tally().Resources[standing.Settled] == 1
	})
	s.awaitCalm(following.user)

	rung := s.journal.has(" six")
	require.Len(t, rung, 3)
	assert.Contains(t, rung[0], "first: create six")
	assert.Contains(t, rung[1], "first: create six: ")
	assert.Contains(t, rung[2], "second: create six", "it begins when the first one has ended")
	assert.Empty(t, s.CallsSince(t, mark, first.user), "who has lost the leadership sends nothing")
	assert.Len(t, s.journal.has("second: "), 1, "what was handled isn't handled again")
	calls := s.CallsSince(t, mark, following.user)
	writes := calls.Writes().Filter(func(c audit.Call) bool { return c.Resource != "leases" })
	assert.Equal(t, map[string]int{"patch bells.operator.operkit.dev": 1}, writes.Count(), "%s", writes)
	t.Logf("COUNT calls of the second replica %v", calls.Count())
	reads := calls.Filter(func(c audit.Call) bool { return c.Resource != "leases" && (c.IsRead() || c.IsWatch()) })
	assert.Equal(t, map[string]int{
		"watch gadgets.operator.operkit.dev": 1, "watch gears.operator.operkit.dev": 1, "watch bells.operator.operkit.dev": 1, "watch configmaps": 1,
		"watch temporarypatches.operkit.dev": 1,
	}, reads.Count(), "each kind is read once")
}

// awaitCalm waits until the users, the operator unless they are given, write nothing for a while.
func (s *street) awaitCalm(users ...*envtest.User) {
	if len(users) == 0 {
		users = []*envtest.User{s.user}
	}
	s.eventually("it comes to rest", func() bool {
		mark := s.Mark(s.t)
		time.Sleep(500 * time.Millisecond)
		return len(s.CallsSince(s.t, mark, users...).Writes().Filter(func(c audit.Call) bool { return c.Resource != "leases" })) == 0
	})
}

// mistaken is a reconciler with a method that nobody would find.
type mistaken struct{ watch.Reconciler }

func (mistaken) Tally() int { return 1 }

func TestMistakesOfDrive(t *testing.T) {
	t.Parallel()
	type build = func(context.Context, watch.Env) (watch.Reconciler, error)
	nothing := func(context.Context, watch.Env) (watch.Reconciler, error) { return nil, nil }
	for _, row := range []struct {
		want  string
		kind  schema.GroupVersionKind
		build build
	}{
		{"reconciler of Gear: nil function", gears, nil},
		{"needs a version and a kind", schema.GroupVersionKind{Group: "x"}, nothing},
		{"reconciler of Gear: its method Reconciler returned nil", gears, nothing},
		{"reconciler of Gear: no key", gears, func(context.Context, watch.Env) (watch.Reconciler, error) { return nil, errors.New("no key") }},
		{"reconciler of Gear: panic: no cheese", gears, func(context.Context, watch.Env) (watch.Reconciler, error) { panic("no cheese") }},
		{"reconciler of Gear: operator_test.mistaken: its method Tally is () int: make it () standing.Tally", gears,
			func(context.Context, watch.Env) (watch.Reconciler, error) { return mistaken{}, nil }},
		{"TemporaryPatch: has a reconciler already, because the operator itself serves temporary patches", temporarypatch.DefaultKind,
			func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
				env.Patches()
				return &children{env: env}, nil
			}},
	} {
		op := operator.New("gadget-operator")
		op.Drive(watch.NewController(row.kind, row.build))
		var log bytes.Buffer
		require.Equal(t, 1, op.Execute(t.Context(), offline, &log, &log), row.want)
		assert.Contains(t, log.String(), row.want)
	}
}

func TestWithoutPatches(t *testing.T) {
	t.Parallel()
	op := operator.New("gadget-operator", operator.WithoutTemporaryPatches())
	asked := false
	op.Drive(watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		asked = true
		assert.Nil(t, env.Patches())
		return nil, errors.New("that is all")
	}))
	var log bytes.Buffer
	assert.Equal(t, 1, op.Execute(t.Context(), offline, &log, &log))
	assert.True(t, asked, log.String())
}
