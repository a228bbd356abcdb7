package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// life is the life of a claim, and of the processes that handle it one after the other.
type life struct {
	t *testing.T
	// cluster is what others see, and open connects a process.
	cluster   deploy.Cluster
	open      func() deploy.Cluster
	namespace string
	mortal    *mortal.Cluster
	process   watch.Reconciler
	now       time.Time
	// chapter is the part of the life, and succeeded counts the successes of each handler and step in it.
	chapter   string
	succeeded map[string]int
	processes int
	handlers  func(l *life) *handlers.Handlers[Claim]
	log       io.Writer
	opts      []handlers.KindOption
}

// newLife returns a life in memory.
func newLife(t *testing.T, h func(l *life) *handlers.Handlers[Claim], log io.Writer) *life {
	l := &life{
		t: t, handlers: h, log: log, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), succeeded: map[string]int{},
		namespace: "default", mortal: &mortal.Cluster{},
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Clock(func() time.Time { return l.now }))
	require.NoError(t, err)
	l.cluster, l.open = memory, func() deploy.Cluster { return memory }
	return l
}

// newRealLife returns a life on a real API server. Without subscriptions, its processes read from the server itself.
func newRealLife(t *testing.T, env *envtest.Env) *life {
	l := newLife(t, busy, io.Discard)
	l.now = time.Now() // the server sets when the claim is created
	l.open = func() deploy.Cluster {
		c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
		require.NoError(t, err)
		return c
	}
	l.cluster, l.namespace = l.open(), env.Namespace
	return l
}

func (l *life) ref() deploy.Ref {
	return deploy.Ref{Kind: claims, Namespace: l.namespace, Name: "small"}
}

// start starts a process.
func (l *life) start() {
	l.processes++
	l.mortal.Connect(l.open())
	manager, err := deploy.NewManager(l.mortal)
	require.NoError(l.t, err)
	l.process, err = l.handlers(l).Reconciler(l.t.Context(), watch.Env{
		Manager: manager, Logger: slog.New(slog.NewTextHandler(l.log, nil)), Now: func() time.Time { return l.now },
	})
	require.NoError(l.t, err)
}

// does returns a handler that does its work, with an attempt that fails before, unless fails is empty.
func (l *life) does(id string, fails string) handlers.Func[Claim] {
	return func(ctx context.Context, r *handlers.Request[Claim]) error {
		if l.mortal.Dead() {
			return mortal.ErrKilled
		}
		if fails != "" && r.Attempt == 1 {
			return errors.New(fails)
		}
		return l.succeeds(id)
	}
}

func (l *life) succeeds(what string) error {
	if !l.mortal.Dead() {
		l.succeeded[l.chapter+": "+what]++
	}
	return nil
}

// busy returns several handlers for each cause, one of them with steps, and one that writes objects and the status.
func busy(l *life) *handlers.Handlers[Claim] {
	h := handlers.New[Claim](claims, l.opts...)
	h.On(handlers.Create, "make", func(ctx context.Context, r *handlers.Request[Claim]) error {
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Object.Name}}
		if err := r.Apply(ctx, object); err != nil {
			return err
		}
		r.Update(func(c *Claim) { c.Status.Volume = c.Name })
		return l.succeeds("make")
	}, handlers.Reports("Made"))
	h.On(handlers.Create|handlers.Update, "both", l.does("both", "not yet"))
	h.Field("spec.size", "grow", l.does("grow", ""))
	h.Field("metadata.labels", "relabel", func(ctx context.Context, r *handlers.Request[Claim]) error {
		for _, change := range r.Diff {
			if err := r.Step(ctx, change.Path[0], func(context.Context) error { return l.succeeds("relabel " + change.Path[0]) }); err != nil {
				return err
			}
		}
		return nil
	})
	h.Cron("nightly", "0 3 * * *", func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Status.Volume = "night" })
		return l.succeeds("nightly")
	})
	h.On(handlers.Delete, "detach", l.does("detach", "in use"))
	h.On(handlers.Delete, "tell", l.does("tell", ""))
	return h
}

// minute is the time for which a life waits: not for the night.
const minute = time.Minute

// work lets processes handle the claim until nothing is left to do. A killed process is followed by another one.
func (l *life) work() {
	for range 50 {
		result, killed := l.reconcile()
		switch {
		case killed:
			l.start()
		case result.RequeueAfter > 0 && result.RequeueAfter < minute:
			l.now = l.now.Add(result.RequeueAfter)
		default:
			return
		}
	}
	l.t.Fatal("it never ends")
}

func (l *life) reconcile() (result request.Result, killed bool) {
	defer func() {
		if panicked := recover(); panicked != nil {
			require.True(l.t, l.mortal.Dead(), "%v", panicked)
			killed = true
		}
	}()
	result, err := l.process.Reconcile(l.t.Context(), request.Request{Key: l.ref()})
	require.NoError(l.t, err)
	return result, l.mortal.Dead()
}

// edit edits the claim as somebody else.
func (l *life) edit(patch string) {
	_, err := l.cluster.Port().Patch(l.t.Context(), l.ref(), deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(patch), FieldManager: "somebody"})
	require.NoError(l.t, err)
}

// create creates the claim.
func (l *life) create() {
	_, err := l.cluster.Port().Create(l.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Claim", "metadata": map[string]any{"name": "small", "namespace": l.namespace},
		"spec": map[string]any{"size": int64(1)},
	}}, deploy.CreateOptions{})
	require.NoError(l.t, err)
}

// live lives the whole life.
func (l *life) live() {
	l.start()
	for _, chapter := range []struct {
		name  string
		begin func()
	}{
		{"create", l.create},
		{"grow", func() { l.edit(`{"spec":{"size":2}}`) }},
		{"relabel", func() { l.edit(`{"metadata":{"labels":{"a":"1","b":"2","c":"3"}}}`) }},
		{"night", func() { l.now = l.now.Add(24 * time.Hour) }},
		{"delete", func() { require.NoError(l.t, l.cluster.Port().Delete(l.t.Context(), l.ref(), deploy.DeleteOptions{})) }},
	} {
		l.chapter = chapter.name
		chapter.begin()
		l.work()
		if obj, err := l.cluster.Port().Get(l.t.Context(), l.ref()); err == nil && obj != nil {
			l.succeeded[l.chapter+": state "+l.stateOf(obj)]++
		}
	}
}

// stateOf returns what has to be the same in each life.
func (l *life) stateOf(obj *unstructured.Unstructured) string {
	conditions := ""
	if status, ok := obj.Object["status"].(map[string]any); ok {
		for _, item := range status["conditions"].([]any) {
			condition := item.(map[string]any)
			conditions += fmt.Sprint(condition["type"], condition["status"], condition["reason"])
		}
		conditions += fmt.Sprint(status["volume"], strings.Contains(fmt.Sprint(status["handled"]), "cycle"))
	}
	return fmt.Sprint(obj.GetFinalizers(), strings.Contains(obj.GetAnnotations()["operkit.dev/operkit-handled.operkit"], "cycle"), conditions)
}

// TestHandlersSurviveKills kills the process before and after each of its writes, and compares what comes of it with an
// undisturbed life: no handler is lost, and only the one that was running may be repeated.
func TestHandlersSurviveKills(t *testing.T) {
	survive(t, "in memory", func(t *testing.T) *life { return newLife(t, busy, io.Discard) }, 1)
}

// TestHandlersSurviveKillsInStatus does so with the record in a field of the status.
func TestHandlersSurviveKillsInStatus(t *testing.T) {
	survive(t, "in memory, with the record in the status", func(t *testing.T) *life {
		l := newLife(t, busy, io.Discard)
		l.opts = append(l.opts, handlers.RecordInStatus("handled"))
		return l
	}, 1)
}

// TestHandlersSurviveRealKills does so on a real API server: at each write in the long test, otherwise at some.
func TestHandlersSurviveRealKills(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strict), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	each := 5
	if os.Getenv("OPERKIT_SOAK") != "" {
		each = 1
	}
	survive(t, "on the API server", func(t *testing.T) *life { return newRealLife(t, env) }, each)
}

// survive kills at the first write, and then at each write that many later.
func survive(t *testing.T, where string, begin func(t *testing.T) *life, each int) {
	undisturbed := begin(t)
	undisturbed.live()
	writes := undisturbed.mortal.Writes()
	require.Equal(t, 1, undisturbed.processes)
	assert.Equal(t, map[string]int{
		"create: make": 1, "create: both": 1, "grow: both": 1, "grow: grow": 1, "relabel: both": 1,
		"relabel: relabel a": 1, "relabel: relabel b": 1, "relabel: relabel c": 1, "night: nightly": 1, "delete: detach": 1, "delete: tell": 1,
	}, withoutStates(undisturbed.succeeded))
	t.Logf("SOAK handlers: killed %s at each %d. of %d writes, before and after it", where, each, writes)
	for at := 1; at <= writes; at += each {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("handlers 23: killed at write %d, after it: %t", at, after), func(t *testing.T) {
				l := begin(t)
				l.mortal.At, l.mortal.After = at, after
				l.live()
				assert.Equal(t, 2, l.processes)
				repeated := 0
				for what, times := range undisturbed.succeeded {
					got := l.succeeded[what]
					assert.GreaterOrEqual(t, got, times, "%s is lost", what)
					repeated += got - times
				}
				for what := range l.succeeded {
					assert.Contains(t, undisturbed.succeeded, what)
				}
				assert.LessOrEqual(t, repeated, 1, "only the handler that was running is repeated: %v", l.succeeded)
			})
		}
	}
}

func withoutStates(succeeded map[string]int) map[string]int {
	handled := map[string]int{}
	for what, times := range succeeded {
		if !strings.Contains(what, ": state") {
			handled[what] = times
		}
	}
	return handled
}
