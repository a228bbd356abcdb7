package reconciletest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestBeforeRequest(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 4; nth++ {
		t.Run(fmt.Sprintf("harness 19: the resource is deleted before request %d", nth), func(t *testing.T) {
			t.Parallel()
			h := New(t, market(), With(reconcile.Concurrency(1)), Manager(deploy.Concurrency(1)))
			h.Apply(tea)
			seen := -1
			h.BeforeRequest(nth, func() {
				seen = len(h.Calls())
				h.Delete("Shop tea")
			})
			h.RunUntilSettled()
			assert.Equal(t, nth-1, seen, "the requests before it were sent")
			h.Gone("Shop tea", "Deployment tea-store", "ConfigMap tea-door")
		})
	}
	t.Run("harness 19: it is for one run", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		times := 0
		h.BeforeRequest(1, func() { times++ })
		h.BeforeRequest(1, func() { times++ })
		h.RunUntilSettled()
		h.Delete("Shop tea")
		h.RunUntilSettled()
		assert.Equal(t, 2, times)
	})
}

func TestStall(t *testing.T) {
	t.Parallel()
	t.Run("harness 20: what others do shows only after CatchUp", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.RunUntilSettled()
		h.Stall("ConfigMap")
		h.Delete("ConfigMap tea-door")
		h.RunUntilSettled()
		h.Writes(0)
		h.Gone("ConfigMap tea-door")
		h.CatchUp()
		h.RunUntilSettled()
		h.Exists("ConfigMap tea-door")
	})
	t.Run("harness 20: its own writes show at once", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.BeforeRequest(1, func() { h.Stall() })
		h.RunUntilSettled()
		assert.Equal(t, []string{"created Deployment test/tea-store", "configured Shop test/tea status"}, lines(h.Calls()), "it isn't created twice")
		h.CatchUp()
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
	t.Run("harness 20: an own object with a generated name shows, too", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.Stall()
		port := observed{h.cluster, h}.Port()
		made, err := port.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Shop", "metadata": map[string]any{"generateName": "tea-", "namespace": "test"},
		}}, deploy.CreateOptions{FieldManager: "test"})
		require.NoError(t, err)
		seen, err := observed{h.cluster, h}.View().Get(t.Context(), deploy.RefOf(made))
		require.NoError(t, err)
		assert.NotNil(t, seen)
		require.NoError(t, port.Delete(t.Context(), deploy.RefOf(made), deploy.DeleteOptions{}))
		seen, err = observed{h.cluster, h}.View().Get(t.Context(), deploy.RefOf(made))
		require.NoError(t, err)
		assert.Nil(t, seen)
	})
	t.Run("harness 20: several changes are one event, and what came and went is none", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Stall()
		h.Apply(tea)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"touched": "yes"}) })
		h.CatchUp()
		h.RunUntilSettled()
		runs := len(h.Runs())
		h.Stall()
		h.Apply("{apiVersion: example.dev/v1, kind: Shop, metadata: {name: coffee}}")
		h.Delete("Shop coffee")
		h.CatchUp()
		h.RunUntilSettled()
		for _, run := range h.Runs()[runs:] {
			assert.Equal(t, request.Periodic, run.Triggers)
		}
	})
	t.Run("harness 20: one kind catches up before another one", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Apply(tea)
		h.RunUntilSettled()
		h.Stall()
		h.Delete("ConfigMap tea-door", "Deployment tea-store")
		h.CatchUp("Deployment")
		h.RunUntilSettled()
		h.Exists("Deployment tea-store")
		h.Gone("ConfigMap tea-door")
		h.CatchUp()
		h.RunUntilSettled()
		h.Exists("ConfigMap tea-door")
	})
	t.Run("harness 20: a restart reads anew", func(t *testing.T) {
		t.Parallel()
		h := New(t, market())
		h.Stall()
		h.Apply(tea)
		h.Restart()
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
}

func TestStalledView(t *testing.T) {
	t.Parallel()
	h := New(t, market())
	h.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {x: v}, ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}")
	h.Stall("ConfigMap")
	h.Delete("ConfigMap a", "ConfigMap b", "ConfigMap other/c")
	view := observed{h.cluster, h}.View().(deploy.OwnedView)
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	for reason, row := range map[string]struct {
		read func(ctx context.Context) ([]*unstructured.Unstructured, error)
		want []string
	}{
		"all": {func(ctx context.Context) ([]*unstructured.Unstructured, error) { return view.List(ctx, kind, "", nil) }, []string{"c", "a", "b"}},
		"namespace": {func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			return view.List(ctx, kind, "test", nil)
		}, []string{"a", "b"}},
		"selector": {func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			return view.List(ctx, kind, "", labels.SelectorFromSet(labels.Set{"x": "v"}))
		}, []string{"b"}},
		"owner": {func(ctx context.Context) ([]*unstructured.Unstructured, error) { return view.Owned(ctx, kind, "", "u") }, []string{"b"}},
		"one": {func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			obj, err := view.Get(ctx, deploy.Ref{Kind: kind, Namespace: "test", Name: "a"})
			return []*unstructured.Unstructured{obj}, err
		}, []string{"a"}},
	} {
		t.Run("harness 20: what a view showed stays: "+reason, func(t *testing.T) {
			objects, err := row.read(t.Context())
			require.NoError(t, err)
			var names []string
			for _, obj := range objects {
				names = append(names, obj.GetName())
			}
			assert.Equal(t, row.want, names)
			live, err := h.Cluster().View().List(t.Context(), kind, "", nil)
			require.NoError(t, err)
			assert.Empty(t, live)
		})
	}
}

func TestDepose(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 4; nth++ {
		t.Run(fmt.Sprintf("harness 21: write %d arrives when the next replica has finished", nth), func(t *testing.T) {
			t.Parallel()
			h := New(t, market())
			h.Apply(tea)
			h.Depose(nth)
			h.RunUntilSettled()
			h.Ready("Shop tea")
			h.RunUntilSettled()
			h.Writes(0)
		})
	}
	t.Run("harness 21: the late write undoes a newer one, and the operator repairs it", func(t *testing.T) {
		t.Parallel()
		sign := "first"
		h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
			s.Add("door", settings(s.Name()+"-door", map[string]any{"sign": sign}))
			return nil
		}})
		h.Apply(tea)
		h.BeforeRequest(1, func() { sign = "second" })
		h.Depose(1)
		h.RunUntilSettled()
		assert.Equal(t, "second", h.Get("ConfigMap tea-door").Object["data"].(map[string]any)["sign"])
		assert.Equal(t, []string{"failed", "created", "configured"}, actions(h.Calls(), "ConfigMap"))
	})
}

// actions returns what the calls did to objects of a kind.
func actions(calls []Call, kind string) (all []string) {
	for _, call := range calls {
		if call.Ref.Kind.Kind == kind {
			all = append(all, string(call.Action))
		}
	}
	return all
}

func TestInterleave(t *testing.T) {
	t.Parallel()
	orders := map[string]func(waiting []Call) int{
		"first": func([]Call) int { return 0 },
		"last":  func(waiting []Call) int { return len(waiting) - 1 },
	}
	run := func(t *testing.T, choose func([]Call) int) (writes []string, widest int) {
		synctest.Test(t, func(t *testing.T) {
			h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
				for _, name := range []string{"a", "b", "c"} {
					s.Add(name, settings(name, nil))
				}
				return nil
			}}, Interleave(func(waiting []Call) int {
				widest = max(widest, len(waiting))
				return choose(waiting)
			}))
			h.Apply(tea)
			h.RunUntilSettled()
			h.Ready("Shop tea")
			writes = lines(h.Calls())
		})
		return writes, widest
	}
	for name, want := range map[string][]string{
		"first": {"created ConfigMap test/a", "created ConfigMap test/b", "created ConfigMap test/c", "configured Shop test/tea status"},
		"last":  {"created ConfigMap test/c", "created ConfigMap test/b", "created ConfigMap test/a", "configured Shop test/tea status"},
	} {
		t.Run("harness 22: components go on in the order of the test: "+name, func(t *testing.T) {
			for range 5 {
				writes, widest := run(t, orders[name])
				assert.Equal(t, want, writes)
				assert.Equal(t, 3, widest)
			}
		})
	}
	t.Run("harness 22: an index that there isn't is the nearest one", func(t *testing.T) {
		writes, _ := run(t, func([]Call) int { return 99 })
		assert.Equal(t, "created ConfigMap test/c", writes[0])
		writes, _ = run(t, func([]Call) int { return -1 })
		assert.Equal(t, "created ConfigMap test/a", writes[0])
	})
}

// Two components that read the same object go on in the order of their names.
func TestInterleaveReaders(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var order []string
			var mu sync.Mutex
			h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
				for _, name := range []string{"a", "b", "c"} {
					s.Use(name, reader{func() {
						mu.Lock()
						defer mu.Unlock()
						order = append(order, name)
					}})
				}
				return nil
			}}, Interleave(func([]Call) int { return 0 }))
			h.Apply(tea)
			_, err := h.Reconcile("Shop tea")
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b", "c"}, order, "harness 22")
		})
	}
}

// Lists of one kind with several selectors go on in the order of these.
func TestInterleaveLists(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var order []string
			g := newGate(func([]Call) int { return 0 })
			g.run(func() {
				var all sync.WaitGroup
				for _, selector := range []string{"c", "a", "b"} {
					all.Go(func() {
						g.pass(t.Context(), Call{Verb: "list"}, selector)
						order = append(order, selector) // one after the other
					})
				}
				all.Wait()
			})
			assert.Equal(t, []string{"a", "b", "c"}, order, "harness 22")
		})
	}
}

// reader is a component that reads its resource, and says so.
type reader struct{ read func() }

// Build implements reconcile.Builder.
func (r reader) Build(ctx context.Context, s *reconcile.Session, _ *reconcile.Component) error {
	_, err := s.Get(ctx, deploy.RefOf(s.Resource()))
	r.read()
	return err
}
