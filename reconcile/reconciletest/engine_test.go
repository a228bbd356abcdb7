package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var gears = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Gear"}

const one = "{apiVersion: example.dev/v1, kind: Gear, metadata: {name: one}, spec: {teeth: 1}}"

// clerk is a reconciler without sessions that writes down what it is called for.
type clerk struct {
	env     watch.Env
	sources source.Sources
	indexes []schema.GroupVersionKind
	do      func(ctx context.Context, c *clerk, req request.Request) (request.Result, error)
	// takes is how long a reconcile lasts: then an engine gets the events of the reconcile before its end.
	takes time.Duration

	mu   sync.Mutex
	book []string
}

func (c *clerk) build(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	c.env = env
	return c, nil
}

func (c *clerk) Sources() source.Sources {
	sources := c.sources
	for _, kind := range c.indexes {
		sources.Indexed = append(sources.Indexed, source.Indexed{Kind: kind, Index: func(event deploy.Event) {
			c.note(fmt.Sprintf("sees %s of the index", event.Type))
		}})
	}
	return sources
}

func (c *clerk) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.book = append(c.book, line)
}

// taken returns the lines since the last call.
func (c *clerk) taken() (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines, c.book = c.book, nil
	return lines
}

func (c *clerk) Observe(event deploy.Event) { c.note(fmt.Sprint("sees ", event.Type)) }

func (c *clerk) Forget(deploy.Ref) { c.note("forgets") }

func (c *clerk) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	c.note(fmt.Sprintf("%s %d", req.Triggers, req.Attempt))
	if c.do == nil {
		return request.Result{}, nil
	}
	defer time.Sleep(c.takes)
	return c.do(ctx, c, req)
}

// writes applies a child, with a value, and returns the state that it has then.
func (c *clerk) writes(ctx context.Context, owner deploy.Ref, value string) ([]request.Revision, error) {
	gear, err := c.env.Manager.View().Get(ctx, owner)
	if err != nil || gear == nil {
		return nil, err
	}
	child := &unstructured.Unstructured{Object: settings("child", map[string]any{"value": value})}
	child.SetNamespace(owner.Namespace)
	results, err := c.env.Manager.Apply(ctx, []*unstructured.Unstructured{child}, deploy.OwnedBy(gear))
	if err != nil {
		return nil, err
	}
	var wrote []request.Revision
	for _, result := range results {
		wrote = append(wrote, request.Revision{UID: result.Object.GetUID(), ResourceVersion: result.Object.GetResourceVersion()})
	}
	return wrote, nil
}

// step is something that happens to the gears of a test.
type step struct {
	what string
	do   func(h *Harness)
	// pass is a time that passes afterwards.
	pass time.Duration
}

func apply(objects ...any) step { return step{"apply", func(h *Harness) { h.Apply(objects...) }, 0} }

func edit(object string, change func(obj *unstructured.Unstructured)) step {
	return step{"edit " + object, func(h *Harness) { h.Edit(object, change) }, 0}
}

func remove(object string) step {
	return step{"delete " + object, func(h *Harness) { h.Delete(object) }, 0}
}

func steps(several ...step) step {
	return step{"all at once", func(h *Harness) {
		for _, s := range several {
			s.do(h)
		}
	}, 0}
}

func pass(d time.Duration) step { return step{"time passes", func(*Harness) {}, d} }

// while is the time in which an engine does what is due.
const while = time.Second / 10

var restarted = step{what: "restart"}

// underEngine plays steps under the engine of package watch, on the cluster of a harness that controls another kind.
func underEngine(t *testing.T, c *clerk, all []step) (books [][]string) {
	kubectl := New(t, Controlling(TestedKind, func(context.Context, *reconcile.Session) error { return nil }))
	t.Cleanup(kubectl.Memory().Wait)
	start := func() (stop func()) {
		engine, err := watch.New(kubectl.Memory().View(), watch.Workers(1), watch.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		manager, err := deploy.NewManager(kubectl.Memory())
		require.NoError(t, err)
		_, _ = c.build(t.Context(), watch.Env{Manager: manager, Watcher: engine})
		require.NoError(t, engine.Control(gears, c))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- engine.Run(ctx) }()
		return func() {
			cancel()
			assert.NoError(t, <-ended)
		}
	}
	stop := start()
	synctest.Wait()
	c.taken()
	for _, s := range all {
		if s.what == restarted.what {
			stop()
			stop = start()
		} else {
			s.do(kubectl)
		}
		synctest.Wait()
		time.Sleep(s.pass + while)
		synctest.Wait()
		books = append(books, c.taken())
	}
	stop()
	return books
}

// inHarness plays the same steps in a harness.
func inHarness(t *testing.T, c *clerk, all []step) (books [][]string) {
	h := Drive(t, watch.NewController(gears, c.build))
	h.Advance(0)
	c.taken()
	for _, s := range all {
		if s.what == restarted.what {
			h.Restart()
		} else {
			s.do(h)
		}
		h.Advance(s.pass + while)
		books = append(books, c.taken())
	}
	return books
}

func teeth(n int64) func(*unstructured.Unstructured) {
	return func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"teeth": n} }
}

// A reconciler is called by a harness for the same reasons as by the engine.
func TestAsTheEngine(t *testing.T) {
	t.Parallel()
	owned := source.Sources{Owned: []source.Owned{{Kind: configMaps}}}
	spec := source.Sources{When: filter.Generation()}
	town := func(colour string) step {
		return apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: town, labels: {colour: " + colour + "}}}")
	}
	var value atomic.Value
	for _, row := range []struct {
		reason  string
		sources source.Sources
		do      func(ctx context.Context, c *clerk, req request.Request) (request.Result, error)
		steps   []step
		// want are lines that the story must have, so that it is about its reason.
		want    []string
		indexes []schema.GroupVersionKind
	}{
		{"events of the resource", source.Sources{}, nil, []step{
			apply(one), edit("Gear one", label("a")), edit("Gear one", teeth(2)), remove("Gear one"),
			{"status", func(h *Harness) { h.Apply(one); h.SetStatus("Gear one", map[string]any{"a": "b"}) }, 0},
		}, []string{"sees ADDED", "changed 0", "deleted 0", "forgets"}, nil},
		{"harness 2: Observe comes before any filter, and Forget in spite of it", spec, nil, []step{
			apply(one), edit("Gear one", label("a")), edit("Gear one", teeth(2)), remove("Gear one"),
			steps(apply(one), remove("Gear one")), steps(apply(one), remove("Gear one"), apply(one)), restarted,
		}, []string{"sees MODIFIED", "sees DELETED", "forgets"}, nil},
		{"a forced reconcile", spec, nil, []step{apply(one), edit("Gear one", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
		})}, []string{"changed,forced 0"}, nil},
		{"harness 3: own writes that it returns are no news", owned, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			wrote, err := c.writes(ctx, req.Key, "a")
			return request.Result{Wrote: wrote}, err
		}, []step{
			apply(one), edit("ConfigMap child", label("a")), edit("Gear one", label("a")),
			edit("ConfigMap child", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"value": "theirs"} }),
			remove("ConfigMap child"), restarted,
		}, []string{"child 0"}, nil},
		{"harness 3: those that it doesn't return are", owned, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			_, err := c.writes(ctx, req.Key, "a")
			return request.Result{}, err
		}, []step{apply(one), edit("ConfigMap child", label("a")), remove("ConfigMap child")}, []string{"child 0"}, nil},
		{"harness 3: of two writes of one object it returns the last", owned, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			if !req.Triggers.Has(request.Changed) {
				return request.Result{}, nil
			}
			_, err := c.writes(ctx, req.Key, "first")
			wrote, last := c.writes(ctx, req.Key, "second")
			return request.Result{Wrote: wrote}, errors.Join(err, last)
		}, []step{apply(one)}, []string{"child 0"}, nil},
		{"harness 3: after a failure nothing counts as its own", owned, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			wrote, err := c.writes(ctx, req.Key, "a")
			if err == nil && req.Attempt < 2 {
				err = errors.New("no luck")
			}
			return request.Result{Wrote: wrote}, err
		}, []step{apply(one), pass(time.Hour), edit("Gear one", teeth(2)), pass(time.Hour)}, []string{"retry 1", "changed 0"}, nil},
		{"permanent errors, panics and times", source.Sources{}, func(_ context.Context, _ *clerk, req request.Request) (request.Result, error) {
			switch {
			case req.Triggers.Has(request.Deleted):
				return request.Result{}, request.Permanent(errors.New("for good"))
			case req.Triggers.Has(request.Changed) && req.Attempt == 0:
				panic("boom")
			case req.Attempt == 1:
				return request.Result{}, request.RetryAfter(time.Minute, errors.New("later"))
			}
			return request.Result{RequeueAfter: 20 * time.Minute}, nil
		}, []step{apply(one), pass(time.Hour), edit("Gear one", label("a")), remove("Gear one"), pass(time.Hour), apply(one)}, []string{"retry 1", "retry 2", "periodic 0"}, nil},
		{"kinds that are mapped, which concern nobody at the start", source.Sources{When: filter.Created(), Mapped: []source.Mapped{{Kind: configMaps, Keys: func(event deploy.Event) []deploy.Ref {
			return []deploy.Ref{{Namespace: event.New.GetNamespace(), Name: "one"}, {Namespace: event.New.GetNamespace(), Name: "two"}}
		}}}}, nil, []step{apply(one), town("red"), edit("ConfigMap town", label("a")), restarted, remove("ConfigMap town")}, []string{"mapped 0"}, nil},
		{"objects that are followed", source.Sources{}, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			if gear, err := c.env.Manager.View().Get(ctx, req.Key); err != nil || gear == nil || gear.GetLabels()["a"] == "alone" {
				return request.Result{}, err
			}
			return request.Result{}, c.env.Watcher.Follow(ctx, req.Key, deploy.Ref{Kind: configMaps, Namespace: req.Key.Namespace, Name: "town"})
		}, []step{
			town("red"), apply(one), town("blue"), restarted, remove("ConfigMap town"), town("red"),
			edit("Gear one", label("alone")), town("blue"),
		}, []string{"followed 0"}, nil},
		{"a kind that a reconcile names", source.Sources{}, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			if err := c.env.Watcher.Own(ctx, gears, configMaps); err != nil {
				return request.Result{}, err
			}
			wrote, err := c.writes(ctx, req.Key, "a")
			return request.Result{Wrote: wrote}, err
		}, []step{apply(one), edit("ConfigMap child", label("a")), restarted, remove("ConfigMap child")}, []string{"listed 0", "child 0"}, nil},
		{"objects of a selection that is followed", source.Sources{}, func(ctx context.Context, c *clerk, req request.Request) (request.Result, error) {
			if gear, err := c.env.Manager.View().Get(ctx, req.Key); err != nil || gear == nil || gear.GetLabels()["a"] == "alone" {
				return request.Result{}, err
			}
			red := labels.SelectorFromSet(labels.Set{"colour": "red"})
			return request.Result{}, c.env.Watcher.FollowAll(ctx, req.Key, configMaps, req.Key.Namespace, red)
		}, []step{
			town("blue"), apply(one), town("red"), town("red"), town("blue"), town("green"), town("red"), restarted,
			remove("ConfigMap town"), edit("Gear one", label("alone")), town("red"),
		}, []string{"followed 0"}, nil},
		{"external sources", source.Sources{When: filter.Created(), External: []source.External{
			source.Poll(time.Minute, func(context.Context) (map[deploy.Ref]string, error) {
				return map[deploy.Ref]string{{Namespace: "test", Name: "one"}: value.Load().(string)}, nil
			}),
		}}, nil, []step{
			apply(one), pass(time.Hour), {"a value", func(*Harness) { value.Store("b") }, time.Hour},
		}, []string{"external 0"}, nil},
		{"indexed kinds, which are seen before anything is reconciled", source.Sources{}, nil, []step{
			town("red"), apply(one), edit("ConfigMap town", label("a")), edit("Gear one", label("a")), restarted, remove("ConfigMap town"), remove("Gear one"),
		}, []string{"sees ADDED of the index", "sees DELETED of the index"}, []schema.GroupVersionKind{configMaps, gears}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := func() *clerk {
					value.Store("a")
					return &clerk{sources: row.sources, indexes: row.indexes, do: row.do, takes: time.Millisecond}
				}
				engine, harness := underEngine(t, made(), row.steps), inHarness(t, made(), row.steps)
				for i, s := range row.steps {
					assert.Equal(t, sorted(engine[i]), sorted(harness[i]), "step %d, %s", i, s.what)
				}
				all := strings.Join(slices.Concat(engine...), "; ")
				for _, want := range row.want {
					assert.Contains(t, all, want)
				}
			})
		})
	}
}

// sorted returns events before reconciles: of an engine, one may come before or after the other.
func sorted(lines []string) []string {
	slices.SortStableFunc(lines, func(a, b string) int {
		rank := func(line string) int {
			if strings.HasPrefix(line, "sees") || line == "forgets" {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return lines
}
