package watcher_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const bucketDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buckets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Bucket, plural: buckets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
`

const foreign = "other.dev/x"

// cloud is what the watcher tends outside of the cluster, by the names of buckets.
type cloud map[string]int

// life is the life of a bucket, and of the processes that watch it one after the other, without an engine.
type life struct {
	t         *testing.T
	cluster   deploy.Cluster
	open      func() deploy.Cluster
	namespace string
	mortal    *mortal.Cluster
	process   watch.Reconciler
	seen      *unstructured.Unstructured
	now       time.Time
	cloud     cloud
	calls     []string
	processes int
	opts      []watcher.Option
	failing   map[string]int
	// during is called in Add.
	during func()
}

func newLife(t *testing.T, opts ...watcher.Option) *life {
	l := &life{t: t, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), cloud: cloud{}, namespace: "default", mortal: &mortal.Cluster{}, opts: opts}
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	l.cluster, l.open = memory, func() deploy.Cluster { return memory }
	return l
}

// newRealLife returns a life on a real API server. Without subscriptions, its processes read from the server itself.
func newRealLife(t *testing.T, env *envtest.Env, opts ...watcher.Option) *life {
	l := newLife(t, opts...)
	l.open = func() deploy.Cluster {
		c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
		require.NoError(t, err)
		return c
	}
	l.cluster, l.namespace = l.open(), env.Namespace
	return l
}

func (l *life) ref() deploy.Ref {
	return deploy.Ref{Kind: buckets, Namespace: l.namespace, Name: "small"}
}

// start starts a process.
func (l *life) start() {
	l.processes++
	l.mortal.Connect(l.open())
	manager, err := deploy.NewManager(l.mortal)
	require.NoError(l.t, err)
	funcs := watcher.Funcs[Bucket]{
		Add:    l.does("add", func(b *Bucket) { l.cloud[b.Name] = b.Spec.Size }),
		Sync:   l.does("sync", func(b *Bucket) { l.cloud[b.Name] = b.Spec.Size }),
		Delete: l.does("delete", func(b *Bucket) { delete(l.cloud, b.Name) }),
	}
	update := l.does("update", func(b *Bucket) { l.cloud[b.Name] = b.Spec.Size })
	funcs.Update = func(ctx context.Context, _, b *Bucket) error { return update(ctx, b) }
	l.process, err = watcher.New[Bucket](buckets, watcher.Add("cloud", watcher.Opinionate(funcs, append(l.opts, watcher.Finalizer(own))...))).
		Reconciler(l.t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return l.now }})
	require.NoError(l.t, err)
	l.seen = nil
}

// does returns a function that works on the cloud, unless the process is dead, and fails as often as the test says.
func (l *life) does(name string, do func(b *Bucket)) func(ctx context.Context, b *Bucket) error {
	return func(_ context.Context, b *Bucket) error {
		if l.mortal.Dead() {
			return mortal.ErrKilled
		}
		if l.failing[name] > 0 {
			l.failing[name]--
			return errors.New("not yet")
		}
		if name == "add" && l.during != nil {
			l.during()
		}
		l.calls = append(l.calls, name)
		do(b)
		return nil
	}
}

// work shows the process what has happened, and lets it work until nothing is left to do. A killed process is followed
// by another one.
func (l *life) work() {
	for range 50 {
		l.observe()
		result, killed := l.reconcile()
		switch {
		case killed:
			l.start()
		case result.RequeueAfter > 0:
			l.now = l.now.Add(result.RequeueAfter)
		case l.observe():
		default:
			return
		}
	}
	l.t.Fatal("it never ends")
}

// observe tells the process the difference to what it has seen, and reports whether there is one.
func (l *life) observe() bool {
	object, err := l.cluster.Port().Get(l.t.Context(), l.ref())
	require.NoError(l.t, err)
	event := deploy.Event{Type: deploy.Modified, Old: l.seen, New: object}
	switch {
	case object == nil && l.seen == nil, object != nil && l.seen != nil && object.GetResourceVersion() == l.seen.GetResourceVersion():
		return false
	case object == nil:
		event.Type, event.New = deploy.Deleted, l.seen
	case l.seen == nil:
		event.Type = deploy.Added
	}
	l.seen = object
	l.process.(watch.Observer).Observe(event)
	return true
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

func (l *life) create(finalizers ...string) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	object.SetGroupVersionKind(buckets)
	object.SetNamespace(l.namespace)
	object.SetName("small")
	object.SetFinalizers(finalizers)
	_, err := l.cluster.Port().Create(l.t.Context(), object, deploy.CreateOptions{})
	require.NoError(l.t, err)
}

// edit edits the bucket as somebody else.
func (l *life) edit(patch string) {
	_, err := l.cluster.Port().Patch(l.t.Context(), l.ref(), deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(patch), FieldManager: "somebody"})
	require.NoError(l.t, err)
}

func (l *life) delete() {
	require.NoError(l.t, l.cluster.Port().Delete(l.t.Context(), l.ref(), deploy.DeleteOptions{}))
}

// finalizers returns those of the bucket, "gone" if there is none.
func (l *life) finalizers() []string {
	object, err := l.cluster.Port().Get(l.t.Context(), l.ref())
	require.NoError(l.t, err)
	if object == nil {
		return []string{"gone"}
	}
	return object.GetFinalizers()
}

// live lives the whole life, in which somebody else holds the bucket, too, and returns what is there after each part.
func (l *life) live() (states []string) {
	l.start()
	for _, part := range []func(){
		func() { l.create(foreign) },
		func() { l.edit(`{"spec":{"size":2}}`) },
		l.start,
		func() { l.edit(`{"metadata":{"finalizers":["` + foreign + `"]}}`) }, // somebody takes the finalizer away
		l.delete,
		func() { l.edit(`{"metadata":{"finalizers":null}}`) },
	} {
		part()
		l.work()
		states = append(states, fmt.Sprint(l.finalizers(), l.cloud))
	}
	return states
}

// TestWatchersSurviveKills kills the process before and after each of its writes, and compares what comes of it with an
// undisturbed life: the cloud is the same after each part, and finalizers of others stay.
func TestWatchersSurviveKills(t *testing.T) {
	for _, opts := range [][]watcher.Option{nil, {watcher.InProgress()}} {
		survive(t, func(t *testing.T) *life { return newLife(t, opts...) })
	}
}

// TestWatchersSurviveRealKills does so on a real API server.
func TestWatchersSurviveRealKills(t *testing.T) {
	env := startServer(t)
	survive(t, func(t *testing.T) *life { return newRealLife(t, env, watcher.InProgress()) })
}

func startServer(t *testing.T) *envtest.Env {
	file := filepath.Join(t.TempDir(), "buckets.yaml")
	require.NoError(t, os.WriteFile(file, []byte(bucketDefinition), 0o600))
	return envtest.Start(t, envtest.CRDs(file))
}

func survive(t *testing.T, begin func(t *testing.T) *life) {
	undisturbed := begin(t)
	states := undisturbed.live()
	writes := undisturbed.mortal.Writes()
	assert.Equal(t, []string{
		"[" + foreign + " " + own + "] map[small:1]", "[" + foreign + " " + own + "] map[small:2]", "[" + foreign + " " + own + "] map[small:2]",
		"[" + foreign + " " + own + "] map[small:2]", "[" + foreign + "] map[]", "[gone] map[]",
	}, states)
	assert.Equal(t, []string{"add", "update", "sync", "add", "delete"}, undisturbed.calls)
	for at := 1; at <= writes; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("watcher 17: killed at write %d of %d, after it: %t", at, writes, after), func(t *testing.T) {
				l := begin(t)
				l.mortal.At, l.mortal.After = at, after
				assert.Equal(t, states, l.live())
				assert.Equal(t, undisturbed.processes+1, l.processes)
				assert.LessOrEqual(t, len(l.calls)-len(undisturbed.calls), 1, "at most one call more: %v", l.calls)
			})
		}
	}
}

// TestBranches goes through the branches of the finalizer machine on a real API server, which refuses what a cluster in
// memory may allow.
func TestBranches(t *testing.T) {
	env := startServer(t)
	for _, row := range []struct {
		reason     string
		opts       []watcher.Option
		failing    map[string]int
		finalizers []string
		do         func(l *life)
		calls      []string
		want       []string
		cloud      cloud
	}{
		{"watcher 16: begun, added, held", []watcher.Option{watcher.InProgress()}, nil, []string{foreign}, func(*life) {}, []string{"add"}, []string{foreign, own}, cloud{"small": 1}},
		{"watcher 15: added, held", nil, nil, []string{foreign}, func(*life) {}, []string{"add"}, []string{foreign, own}, cloud{"small": 1}},
		{"watcher 15: held before", nil, nil, []string{foreign, own}, func(*life) {}, []string{"sync"}, []string{foreign, own}, cloud{"small": 1}},
		{"watcher 15: what was left of Add", []watcher.Option{watcher.InProgress()}, nil, []string{begun, foreign, own}, func(*life) {}, []string{"sync"}, []string{foreign, own}, cloud{"small": 1}},
		{"watcher 15: a deletion", nil, nil, []string{foreign}, (*life).delete, []string{"add", "delete"}, []string{foreign}, cloud{}},
		{"watcher 15: a deletion that fails at first", nil, map[string]int{"delete": 2}, []string{foreign}, (*life).delete, []string{"add", "delete"}, []string{foreign}, cloud{}},
		{"watcher 19: a deletion before Add has succeeded", []watcher.Option{watcher.InProgress()}, map[string]int{"add": 100}, []string{foreign}, (*life).delete, []string{"delete"}, []string{foreign}, cloud{}},
		{"watcher 15: a deletion while no operator runs", []watcher.Option{watcher.InProgress()}, nil, []string{foreign}, func(l *life) {
			l.delete()
			l.start()
		}, []string{"add", "delete"}, []string{foreign}, cloud{}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			l := newRealLife(t, env, row.opts...)
			l.failing = row.failing
			l.start()
			l.create(row.finalizers...)
			t.Cleanup(func() {
				if object, err := l.cluster.Port().Get(context.Background(), l.ref()); err == nil && object != nil {
					_ = l.cluster.Port().Delete(context.Background(), l.ref(), deploy.DeleteOptions{})
					_, _ = l.cluster.Port().Patch(context.Background(), l.ref(), deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(`{"metadata":{"finalizers":null}}`)})
				}
			})
			l.work()
			row.do(l)
			l.work()
			assert.Equal(t, row.calls, l.calls)
			assert.Equal(t, row.want, l.finalizers())
			assert.Equal(t, row.cloud, l.cloud)
		})
	}
	t.Run("watcher 19: a deletion during Add, which the server lets no finalizer hold", func(t *testing.T) {
		for _, opts := range [][]watcher.Option{nil, {watcher.InProgress()}} {
			l := newRealLife(t, env, opts...)
			l.start()
			l.create()
			l.during = l.delete
			l.work()
			assert.Equal(t, []string{"add", "delete"}, l.calls)
			assert.Equal(t, []string{"gone"}, l.finalizers())
			assert.NotContains(t, l.cloud, "small")
		}
	})
}
