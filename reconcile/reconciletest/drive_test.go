package reconciletest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDriveEnv(t *testing.T) {
	t.Parallel()
	t.Run("harness 1: the function of an operator gets what an operator gives it", func(t *testing.T) {
		t.Parallel()
		var sink event.Func = func(event.Event) {}
		var env watch.Env
		h := Drive(t, watch.NewController(gears, func(_ context.Context, given watch.Env) (watch.Reconciler, error) {
			env = given
			return &clerk{}, nil
		}), Events(sink), Manager(deploy.KeyDomain("example.dev")))
		assert.Equal(t, "example.dev", env.Manager.KeyDomain())
		assert.NotNil(t, env.Watcher)
		assert.NotNil(t, env.Logger)
		assert.NotNil(t, env.Events)
		h.Advance(time.Hour)
		assert.Equal(t, Started.Add(time.Hour), env.Now())
	})
	t.Run("harness 1: sessions run beside it", func(t *testing.T) {
		t.Parallel()
		c := &clerk{}
		h := New(t, market(), AlsoDrive(watch.NewController(gears, c.build)), With(reconcile.MaxAttempts(3)))
		h.Apply(tea, one)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.Equal(t, []string{"sees ADDED", "changed 0"}, c.taken())
		h.Golden("Shop tea", "market")
	})
}

// Restart takes everything from a reconciler but the cluster.
func TestDriveRestart(t *testing.T) {
	t.Parallel()
	t.Run("harness 4: all memory is lost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var made []*clerk
			var running int
			h := Drive(t, watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
				c := &clerk{env: env, do: func(context.Context, *clerk, request.Request) (request.Result, error) {
					return request.Result{RequeueAfter: time.Hour}, errors.New("no luck")
				}}
				c.sources.External = []source.External{source.Func(func(ctx context.Context, target source.Target) {
					running++
					<-ctx.Done()
					running--
				})}
				made = append(made, c)
				return c, nil
			}))
			h.Apply(one)
			h.Advance(time.Minute)
			assert.Greater(t, len(made[0].taken()), 5)
			now := h.Now()
			h.Restart()
			require.Len(t, made, 2)
			h.Advance(0)
			assert.Empty(t, made[0].taken())
			assert.Equal(t, []string{"sees ADDED", "listed 0"}, made[1].taken(), "it is listed, and its failures don't count any more")
			assert.NotSame(t, made[0].env.Manager, made[1].env.Manager)
			assert.Equal(t, 1, running, "the external source of the process before has ended")
			assert.Equal(t, now, h.Now())
			h.Exists("Gear one")
		})
	})
}

func TestLeave(t *testing.T) {
	t.Parallel()
	t.Run("harness 2: what leaves the view is forgotten, and new when it comes back", func(t *testing.T) {
		t.Parallel()
		c := &clerk{do: func(context.Context, *clerk, request.Request) (request.Result, error) {
			return request.Result{RequeueAfter: time.Minute}, nil
		}}
		h := Drive(t, watch.NewController(gears, c.build))
		h.Apply(one)
		h.Advance(0)
		c.taken()
		h.Edit("Gear one", label("a"))
		h.Leave("Gear one")
		assert.Equal(t, []string{"sees MODIFIED", "sees LEFT", "forgets"}, c.taken())
		h.Edit("Gear one", teeth(2))
		h.Advance(time.Hour)
		h.Restart()
		h.Advance(time.Hour)
		assert.Empty(t, c.taken())
		h.Enter("Gear one")
		h.Advance(0)
		assert.Equal(t, []string{"sees ADDED", "changed 0"}, c.taken())
	})
}

func TestExternalSourcesNeedTheTimeOfABubble(t *testing.T) {
	t.Parallel()
	var logs []string
	said := try(t, func(t *trial) {
		c := &clerk{sources: source.Sources{External: []source.External{source.Func(func(context.Context, source.Target) { panic("it runs") })}}}
		Drive(t, watch.NewController(gears, c.build))
		logs = t.logs
	})
	assert.Empty(t, said)
	assert.Contains(t, logs, "external sources of Gear don't run: run the test in synctest.Test, or stand in for them by Bring")
}

func TestStartedSourcesNeedNoBubble(t *testing.T) {
	t.Parallel()
	var logs []string
	var started int
	said := try(t, func(t *trial) {
		c := &clerk{sources: source.Sources{External: []source.External{source.Started(func(context.Context, source.Target) error {
			started++
			return nil
		})}}}
		Drive(t, watch.NewController(gears, c.build)).RunUntilSettled()
		logs = t.logs
	})
	assert.Empty(t, said)
	assert.Empty(t, logs)
	assert.Equal(t, 1, started)
}

func TestExternalSources(t *testing.T) {
	t.Parallel()
	t.Run("harness 5: in a bubble time passes for all, and only when the test says so", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			keys := make(chan deploy.Ref)
			c := &clerk{do: func(_ context.Context, c *clerk, _ request.Request) (request.Result, error) {
				c.note(c.env.Now().Sub(Started).String())
				return request.Result{}, nil
			}}
			failed := errors.New("no answer")
			c.sources.External = []source.External{source.Channel(keys), source.Func(func(ctx context.Context, target source.Target) {
				target.Failed(failed)
				for range 2 {
					select {
					case <-ctx.Done():
						return
					case <-time.After(time.Hour):
						target.Bring(target.Keys()...)
					}
				}
				if failed != nil {
					failed = nil
					panic("boom")
				}
			})}
			h := Drive(t, watch.NewController(gears, c.build))
			h.Apply(one)
			h.RunUntilSettled()
			assert.Equal(t, []string{"sees ADDED", "changed 0", "0s"}, c.taken())
			keys <- deploy.Ref{Namespace: "test", Name: "one"}
			h.RunUntilSettled()
			assert.Equal(t, []string{"external 0", "0s"}, c.taken(), "it is there as soon as it was sent")
			h.Advance(150 * time.Minute)
			assert.Equal(t, []string{"external 0", "1h0m0s", "external 0", "2h0m0s"}, c.taken(), "each at its time")
			time.Sleep(30 * time.Minute)
			assert.Equal(t, 3*time.Hour, h.Now().Sub(Started))
			h.Advance(0)
			assert.Empty(t, c.taken())
			h.Advance(time.Hour)
			assert.Equal(t, []string{"external 0"}, c.taken()[:1], "after a panic it runs again")
		})
	})
}

func TestPanicOfAStyle(t *testing.T) {
	t.Parallel()
	var logs []string
	said := try(t, func(t *trial) {
		c := &clerk{do: func(context.Context, *clerk, request.Request) (request.Result, error) { panic("boom") }}
		h := Drive(t, watch.NewController(gears, c.build))
		h.Apply(one)
		_, err := h.Reconcile("Gear one")
		if err == nil {
			t.Errorf("no error")
		}
		logs = t.logs
	})
	assert.Empty(t, said)
	text := strings.Join(logs, "\n")
	assert.Contains(t, text, "reconcile of Gear test/one failed: panic: boom")
	assert.Contains(t, text, "drive_test.go", "with its stack")
}

// misnamed has an Observe that isn't the one of an Observer.
type misnamed struct{ clerk }

func (*misnamed) Observe(string) {}

func TestDriveFails(t *testing.T) {
	t.Parallel()
	makes := func(r watch.Reconciler, err error) func(context.Context, watch.Env) (watch.Reconciler, error) {
		return func(context.Context, watch.Env) (watch.Reconciler, error) { return r, err }
	}
	clerks := makes(&clerk{}, nil)
	driven := func(t *trial) *Harness {
		h := Drive(t, watch.NewController(gears, clerks))
		h.Apply(one)
		return h
	}
	const noComponents = "no kind of the test has components: this needs a controller of sessions, see New"
	for _, row := range []struct {
		reason string
		test   func(t *trial)
		says   string
	}{
		{"no function", func(t *trial) { Drive(t, watch.NewController(gears, nil)) }, "reconciletest: reconciler of Gear: nil function: pass one that makes a reconciler"},
		{"no kind", func(t *trial) { Drive(t, watch.NewController(schema.GroupVersionKind{Kind: "Gear"}, clerks)) }, "needs a version and a kind"},
		{"a function that fails", func(t *trial) { Drive(t, watch.NewController(gears, makes(nil, errors.New("no luck")))) }, "reconciletest: reconciler of Gear: no luck"},
		{"a function that returns nothing", func(t *trial) { Drive(t, watch.NewController(gears, makes(nil, nil))) }, "reconciler of Gear: its method Reconciler returned nil"},
		{"two for one kind, in two versions", func(t *trial) {
			Drive(t, watch.NewController(gears, clerks), AlsoDrive(watch.NewController(schema.GroupVersionKind{Group: gears.Group, Version: "v2", Kind: "Gear"}, clerks)))
		}, "reconciler of Gear: Gear has a controller already"},
		{"sources that aren't valid", func(t *trial) {
			Drive(t, watch.NewController(gears, makes(&clerk{sources: source.Sources{External: []source.External{nil}}}, nil)))
		}, "reconciler of Gear: *reconciletest.clerk: its sources: external[0]: nil source"},
		{"a method of another signature", func(t *trial) { Drive(t, watch.NewController(gears, makes(&misnamed{}, nil))) }, "its method Observe is (string): make it (deploy.Event)"},
		{"harness 6: options of sessions", func(t *trial) { Drive(t, watch.NewController(gears, clerks), With(reconcile.MaxAttempts(1))) },
			"option With: it is for controllers of sessions, and the test has none"},
		{"harness 6: Render", func(t *trial) { driven(t).Render("Gear one") },
			"reconciletest: render Gear one: a Gear has no components: this needs a controller of sessions, see New"},
		{"harness 6: Golden", func(t *trial) { driven(t).Golden("Gear one", "one") }, "reconciletest: golden one: render Gear one: a Gear has no components"},
		{"harness 6: Fail", func(t *trial) { driven(t).Fail("a", Deploy, errors.New("boom")) }, `reconciletest: fail "a" in "deploy": ` + noComponents},
		{"harness 6: FailOnce", func(t *trial) { driven(t).FailOnce("", Setup, errors.New("boom")) }, `reconciletest: fail "" in "setup": ` + noComponents},
		{"one without a condition Ready", func(t *trial) { driven(t).Ready("Gear one") }, "Gear one: isn't ready: it has no condition Ready"},
		{"one whose condition is False", func(t *trial) {
			h := driven(t)
			h.SetStatus("Gear one", map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "Broken", "message": "a tooth"}}})
			h.Ready("Gear one")
		}, "Gear one: isn't ready: Broken: a tooth"},
		{"a leave of nothing", func(t *trial) { driven(t).Leave("Gear two") }, "reconciletest: leave Gear two: there is no such object"},
		{"one of no controller", func(t *trial) {
			h := driven(t)
			h.Apply(settings("a", nil))
			h.Enter("ConfigMap a")
		}, "reconciletest: enter ConfigMap a: no controller of the test is for that kind"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, try(t, row.test), row.says)
		})
	}
}

func TestWaited(t *testing.T) {
	t.Parallel()
	t.Run("harness 5: Waited is the time since the first event", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var waited []time.Duration
			c := &clerk{do: func(_ context.Context, _ *clerk, req request.Request) (request.Result, error) {
				waited = append(waited, req.Waited)
				return request.Result{}, nil
			}}
			h := Drive(t, watch.NewController(gears, c.build))
			h.Apply(one)
			time.Sleep(time.Minute)
			h.Edit("Gear one", label("a"))
			time.Sleep(time.Second)
			h.RunUntilSettled()
			assert.Equal(t, []time.Duration{time.Minute + time.Second}, waited)
		})
	})
}

// A reconciler that says that it has nothing left to do, although its status is from before its writes, keeps that
// status: a test has to see it.
func TestStaleStatus(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		says bool
		want any
	}{
		"harness 3: it returns its write, and its status stays stale":      {true, int64(0)},
		"harness 3: it doesn't, and is reconciled again because of itself": {false, int64(1)},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			c := &clerk{sources: source.Sources{Owned: []source.Owned{{Kind: configMaps}}}}
			c.do = func(ctx context.Context, c *clerk, req request.Request) (result request.Result, err error) {
				before, err := c.env.Manager.View().List(ctx, configMaps, req.Key.Namespace, nil)
				if err != nil {
					return result, err
				}
				wrote, err := c.writes(ctx, req.Key, "a")
				if row.says {
					result.Wrote = wrote
				}
				_, failed := c.env.Manager.SetStatus(ctx, req.Key, func(*unstructured.Unstructured) (map[string]any, error) {
					return map[string]any{"children": int64(len(before))}, nil
				})
				return result, errors.Join(err, failed)
			}
			h := Drive(t, watch.NewController(gears, c.build))
			h.Apply(one)
			h.RunUntilSettled()
			assert.Equal(t, row.want, h.Get("Gear one").Object["status"].(map[string]any)["children"])
		})
	}
}

// starting is an external source that has to start before the first reconcile.
type starting struct {
	fails  int
	target source.Target
	note   func(line string)
}

func (s *starting) Start(_ context.Context, target source.Target) error {
	s.note("starts")
	target.Bring(deploy.Ref{Namespace: "test", Name: "one"})
	if s.fails--; s.fails >= 0 {
		return errors.New("no answer")
	}
	s.target = target
	return nil
}

func (s *starting) Run(context.Context, source.Target) {}

func TestHeldKinds(t *testing.T) {
	t.Parallel()
	t.Run("harness 2: nothing is reconciled before its external sources have started", func(t *testing.T) {
		t.Parallel()
		var logs []string
		said := try(t, func(t *trial) {
			s := &starting{fails: 2}
			c := &clerk{indexes: []schema.GroupVersionKind{configMaps}, sources: source.Sources{External: []source.External{s}}}
			s.note = c.note
			h := Drive(t, watch.NewController(gears, c.build), Memory(dryrun.Objects(inTest(settings("town", nil)))))
			h.Apply(one)
			h.RunUntilSettled()
			if lines := strings.Join(c.taken(), "; "); lines != "sees ADDED of the index; starts; starts" || s.target != nil {
				t.Errorf("it isn't held: %s", lines)
			}
			h.RunUntilSettled()
			if lines := strings.Join(c.taken(), "; "); lines != "starts; sees ADDED; listed,external 0" || s.target == nil {
				t.Errorf("it doesn't run: %s", lines)
			}
			logs = t.logs
		})
		assert.Empty(t, said)
		assert.Contains(t, logs, "Gear can't be reconciled yet: an external source doesn't start: no answer")
	})
	t.Run("harness 2: nothing is reconciled before its index is complete", func(t *testing.T) {
		t.Parallel()
		towns := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Town"}
		c := &clerk{indexes: []schema.GroupVersionKind{towns}}
		h := Drive(t, watch.NewController(shops, c.build), Definitions("testdata/crds"))
		h.Apply(tea)
		h.RunUntilSettled()
		assert.Empty(t, c.taken(), "the cluster doesn't serve the indexed kind")
		h.Apply(definitionOf(towns))
		h.Apply(Resource(towns, "york", nil))
		h.RunUntilSettled()
		assert.Equal(t, []string{"sees ADDED of the index", "sees ADDED", "listed 0"}, c.taken())
	})
}

// inTest returns an object in the namespace of the harness.
func inTest(content map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: content}
	obj.SetNamespace("test")
	return obj
}
