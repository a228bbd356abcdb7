package kinds_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// patience bounds how long anything may take.
const patience = 60 * time.Second

// rounds is how many kinds come and go: more in the long test.
func rounds() int {
	if os.Getenv("OPERKIT_SOAK") != "" {
		return 50
	}
	return 10
}

// seen are the objects that reconcilers were called for, and the tables that they keep.
type seen struct {
	mu      sync.Mutex
	keys    map[string]bool
	indexed map[string]bool
}

func (s *seen) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[name]
}

// tending reconciles one kind. It removes the finalizer of objects that are being deleted, owns ConfigMaps, indexes its
// own kind, and is told of events and of what is forgotten.
type tending struct {
	*seen
	cluster *cluster.Cluster
	kind    schema.GroupVersionKind
}

func (t tending) Sources() source.Sources {
	return source.Sources{
		Owned: []source.Owned{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}},
		Indexed: []source.Indexed{{Kind: t.kind, Index: func(event deploy.Event) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.indexed[event.New.GetName()] = event.Type != deploy.Deleted
		}}},
	}
}

func (t tending) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	if req.Triggers.Has(request.Deleting) {
		_, err := t.cluster.Port().Patch(ctx, req.Key, deploy.PatchRequest{
			Type: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":null}}`), FieldManager: "tending",
		})
		return request.Result{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !req.Triggers.Has(request.Deleted) {
		t.keys[req.Key.Name] = true
	}
	return request.Result{RequeueAfter: time.Hour}, nil
}

func (t tending) Forget(key deploy.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.keys, key.Name)
	delete(t.indexed, key.Name)
}

// level is how much a process keeps.
type level struct {
	goroutines int
	heap       uint64
}

func now() level {
	for range 3 {
		runtime.GC()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return level{runtime.NumGoroutine(), memory.HeapAlloc}
}

func (l level) String() string {
	return fmt.Sprintf("goroutines=%d heap=%dKiB", l.goroutines, l.heap>>10)
}

func TestKindsComeAndGo(t *testing.T) {
	env := envtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	logs := &testlog.Text{}
	logger := slog.New(slog.NewTextHandler(logs, nil))
	c, err := cluster.New(ctx, env.Admin, cluster.Namespaces(env.Namespace), cluster.Logger(logger))
	require.NoError(t, err)
	engine, err := watch.New(c.View(), watch.Logger(logger))
	require.NoError(t, err)
	s := &seen{keys: map[string]bool{}, indexed: map[string]bool{}}
	driver := kinds.Driver{
		View: c.View(), Engine: engine, Logger: logger, Select: kinds.Selector{Group: "*." + env.Namespace + ".dev"}, Verbs: []string{"patch"},
		New: func(_ context.Context, kind deploy.ServedKind) (watch.Reconciler, error) {
			return tending{s, c, kind.Kind}, nil
		},
	}
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, engine.Run(ctx)) })
	running.Go(func() { assert.NoError(t, driver.Run(ctx)) })
	defer c.Wait()
	defer running.Wait()
	defer cancel()

	const objects = 50
	var begin level
	for round := range rounds() {
		kind := schema.GroupVersionKind{Group: fmt.Sprintf("g%d.%s.dev", round, env.Namespace), Version: "v1", Kind: "Thing"}
		define(t, env, kind.Group)
		for i := range objects {
			create(t, c, kind, env.Namespace, fmt.Sprintf("thing-%d-%d", round, i), round == 0)
		}
		for i := range objects {
			await(t, func() bool { return s.has(fmt.Sprintf("thing-%d-%d", round, i)) }, "object %d of round %d is reconciled", i, round)
		}
		assert.Len(t, engine.State().Kinds, 2, "the kind and its children")
		undefine(t, c, kind.Group)
		await(t, func() bool { return len(engine.State().Kinds) == 0 }, "round %d: its kind is released", round)
		assert.Zero(t, engine.State().Timers)
		if round == 0 { // what is made once, such as the watch of definitions, is there now
			begin = settled(level{1 << 20, 0})
			t.Logf("COUNT level-start %s", begin)
		}
	}
	end := settled(begin)
	t.Logf("COUNT level-end %s kinds=%d", end, rounds())
	assert.LessOrEqual(t, end.goroutines, begin.goroutines)
	assert.Less(t, end.heap, begin.heap+1<<20, "what stays is the bounded pool of shared texts")
	assert.Zero(t, logs.Count("a kind isn't reconciled"))
	assert.Empty(t, s.keys)
	assert.Empty(t, s.indexed)
}

// settled waits until no more goroutines run than at the given level, for some seconds.
func settled(than level) level {
	for range 50 {
		if now().goroutines <= than.goroutines {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return now()
}

func await(t *testing.T, condition func() bool, message string, args ...any) {
	t.Helper()
	require.Eventually(t, condition, patience, 5*time.Millisecond, fmt.Sprintf(message, args...))
}

func define(t *testing.T, env *envtest.Env, group string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "definition.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s}
spec:
  group: %[1]s
  names: {kind: Thing, plural: things, singular: thing}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]`,
		group), 0o600))
	env.InstallCRDs(t, file)
}

func undefine(t *testing.T, c *cluster.Cluster, group string) {
	t.Helper()
	definition := deploy.Ref{Kind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, Name: "things." + group}
	require.NoError(t, c.Port().Delete(t.Context(), definition, deploy.DeleteOptions{}))
}

func create(t *testing.T, c *cluster.Cluster, kind schema.GroupVersionKind, namespace, name string, held bool) {
	t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	if held { // the definition is gone only when all objects have been tended, some seconds later
		obj.SetFinalizers([]string{"example.dev/tended"})
	}
	await(t, func() bool {
		_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody"})
		return err == nil
	}, "%s is created", name)
}
