package reconcile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRolloutOrder(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 15, 24: components in the order of their dependencies, objects in theirs", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		calls := w.calm(w.reconciler(adding(func(s *Session) {
			web := s.Add("a-web", configMap("web-1"), configMap("web-2"))
			db := s.Add("b-db", configMap("db-2"), configMap("db-1"))
			disk := s.Add("c-disk", configMap("disk"))
			web.After(db).After(disk)
			db.After(disk)
		})))
		assert.Equal(t, []string{
			"apply ConfigMap shop/disk", "apply ConfigMap shop/db-2", "apply ConfigMap shop/db-1",
			"apply ConfigMap shop/web-1", "apply ConfigMap shop/web-2", writeStatus,
		}, calls)
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 26: one after the other, by name, when asked for", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		calls := w.calm(w.reconciler(adding(func(s *Session) {
			for _, name := range []string{"c", "a", "b"} {
				s.Add(name, configMap(name))
			}
		}), Concurrency(0)))
		assert.Equal(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/b", "apply ConfigMap shop/c", writeStatus}, calls)
	})
	t.Run("reconcile 24: independent components at the same time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var both sync.WaitGroup
		both.Add(2)
		w.refuse = func(call string) error {
			if call != writeStatus {
				// Each waits for the other: one after the other they would never end.
				both.Done()
				both.Wait()
			}
			return nil
		}
		w.calm(w.reconciler(adding(func(s *Session) {
			s.Add("a", configMap("a"))
			s.Add("b", configMap("b"))
		}), Concurrency(2)))
	})
	t.Run("reconcile 27: no components are complete", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(adding(func(*Session) {}))))
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 16, dag 37: a dry run rolls all out, without waiting", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		calls := w.calm(w.reconciler(adding(func(s *Session) {
			s.Add("a", configMap("a")).After(s.Add("b", deployment("b")), Ready, func(context.Context, *Component) (bool, error) {
				assert.Fail(t, "dag 37: gates aren't asked")
				return false, nil
			})
		}), DryRun()))
		assert.Equal(t, []string{"apply Deployment shop/b", "apply ConfigMap shop/a", writeStatus}, calls)
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
}

func TestGates(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 24: Ready opens once every object is ready", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) {
			s.Add("web", configMap("web")).After(s.Add("db", configMap("db"), deployment("db")), Ready)
		}))
		assert.Equal(t, []string{"apply ConfigMap shop/db", "apply Deployment shop/db", writeStatus}, w.calm(r))
		assert.Equal(t, "Initializing/VerifyWait", w.verdict())
		assert.Regexp(t, `^db: Deployment db: InProgress \(.+\); web waits for db \(its gate is closed\)$`, w.message())
		assert.Empty(t, w.calm(r), "and nothing happens until it does")
		w.makeReady("db")
		assert.Equal(t, []string{"apply ConfigMap shop/web", writeStatus}, w.calm(r))
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 9: a predicate is given the component that is waited for", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		open, asked := false, 0
		r := w.reconciler(adding(func(s *Session) {
			db := s.Add("db", configMap("db"))
			s.Add("web", configMap("web")).After(db, func(_ context.Context, upstream *Component) (bool, error) {
				assert.Same(t, db, upstream)
				asked++
				return open, nil
			})
		}))
		assert.Equal(t, []string{"apply ConfigMap shop/db", writeStatus}, w.calm(r))
		assert.Equal(t, "web waits for db (its gate is closed)", w.message())
		open, asked = true, 0
		assert.Equal(t, []string{"apply ConfigMap shop/web", writeStatus}, w.calm(r))
		assert.Equal(t, 1, asked, "a gate that is open is asked once, and not again to verify")
	})
	t.Run("reconcile 18: all gates count, those of several calls too", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			first, second, want bool
		}{{true, true, true}, {true, false, false}, {false, true, false}} {
			w := newWorld(t)
			w.calm(w.reconciler(adding(func(s *Session) {
				db := s.Add("db")
				s.Add("web", configMap("web")).After(db, gate(row.first)).After(db, gate(row.second)).After(db)
			})))
			assert.Equal(t, row.want, w.get(configMapRef("web")) != nil, "%v", row)
		}
	})
	t.Run("reconcile mistake 4: an error of a gate is that of the component that waits, by its kind", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			reason  string
			err     error
			verdict string
			want    string
		}{
			{"an expected one leaves it waiting", request.Precondition("no tea"), "Initializing/PreconditionWait", ""},
			{"any other fails it", errors.New("broken"), "Errored/Errored", "component web: gate on component db: broken"},
			{"the cluster's", forbidden("get", "pods"), "Initializing/ClusterError",
				"component web: gate on component db: " + forbidden("get", "pods").Error()},
		} {
			w := newWorld(t)
			calls, _, err := w.once(w.reconciler(adding(func(s *Session) {
				db := s.Add("db", configMap("db"))
				s.Add("web", configMap("web")).After(db, func(context.Context, *Component) (bool, error) { return false, row.err })
				s.Add("apart", configMap("apart")).After(db)
			})))
			assert.Equal(t, []string{"apply ConfigMap shop/db", "apply ConfigMap shop/apart", writeStatus}, calls, "%s: the others go on", row.reason)
			assert.Equal(t, row.verdict, w.verdict(), row.reason)
			if row.want == "" {
				assert.NoError(t, err, row.reason)
				assert.Equal(t, "web: gate on component db: no tea", w.message())
				continue
			}
			assert.EqualError(t, err, row.want, row.reason)
			assert.Equal(t, row.want, w.message(), row.reason)
		}
	})
	t.Run("a gate that panics is an error like any other", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(adding(func(s *Session) {
			s.Add("web").After(s.Add("db"), func(context.Context, *Component) (bool, error) { panic("boom") })
		})))
		require.Error(t, err)
		assert.Equal(t, "component web: panic: boom (rollout_test.go)", testlog.WithoutLines(err.Error()))
		assert.Contains(t, w.logs.String(), "rollout_test.go", "where it happened is in the log")
	})
	t.Run("what is deployed is judged whatever gates say by now", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var asked atomic.Int32
		w.calm(w.reconciler(adding(func(s *Session) {
			s.Add("web", configMap("web")).After(s.Add("db"), func(context.Context, *Component) (bool, error) { return asked.Add(1) == 1, nil })
		})))
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
}

func gate(open bool) Gate {
	return func(context.Context, *Component) (bool, error) { return open, nil }
}

func TestDisabledComponents(t *testing.T) {
	t.Parallel()
	disabled := true
	newDisabling := func(w *world) *Reconciler {
		return w.reconciler(adding(func(s *Session) {
			if c := s.Add("c", configMap("a"), configMap("b")); disabled {
				c.Disable()
			}
		}))
	}
	t.Run("reconcile 24, dag 35, mistake 1: deleted once, last object first, and then settled", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, owned(configMap("a"), widgetUID), owned(configMap("b"), widgetUID))
		r := newDisabling(w)
		assert.Equal(t, []string{"delete ConfigMap shop/b", "delete ConfigMap shop/a", writeStatus}, w.calm(r))
		assert.Equal(t, "Stable/Stable", w.verdict())
		assert.Empty(t, w.calm(r))
	})
	t.Run("reconcile 50: the status counts it only while something of it is left", func(t *testing.T) {
		t.Parallel()
		stays := owned(configMap("b"), widgetUID)
		stays.SetFinalizers([]string{"example.dev/stays"})
		w := newWorld(t, owned(configMap("a"), widgetUID), stays)
		r := newDisabling(w)
		w.calm(r)
		state := w.status("componentStatus").(map[string]any)
		assert.Equal(t, []any{"0/1", []any{"c"}, nil}, []any{state["deployed"], state["allComponents"], state["disabledComponents"]})
		assert.Equal(t, "Initializing/PreconditionWait", w.verdict())
		w.merge(configMapRef("b"), `{"metadata":{"finalizers":null}}`)
		w.calm(r)
		state = w.status("componentStatus").(map[string]any)
		assert.Equal(t, []any{"0/0", []any{}, []any{"c"}}, []any{state["deployed"], state["allComponents"], state["disabledComponents"]})
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("what never was costs nothing", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []string{writeStatus}, newWorld(t).calmly(newDisabling))
	})
	t.Run("what belongs to somebody else, or to nobody, is left alone", func(t *testing.T) {
		t.Parallel()
		nobodys := configMap("b")
		nobodys.SetNamespace("shop")
		w := newWorld(t, owned(configMap("a"), "somebody"), nobodys)
		assert.Equal(t, []string{writeStatus}, w.calm(newDisabling(w)))
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 15: what can't be deleted is its component's failure", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, owned(configMap("a"), widgetUID), owned(configMap("b"), widgetUID))
		w.refuse = refusing(forbidden("delete", "configmaps"), "delete ConfigMap shop/b")
		calls, _, err := w.once(newDisabling(w))
		assert.EqualError(t, err, "component c: "+forbidden("delete", "configmaps").Error())
		assert.Equal(t, []string{"delete ConfigMap shop/b", "delete ConfigMap shop/a", writeStatus}, calls)
		assert.Equal(t, "Initializing/ClusterError", w.verdict())
	})
}

func (w *world) calmly(reconciler func(*world) *Reconciler) []string {
	w.t.Helper()
	return w.calm(reconciler(w))
}

func TestFailingComponents(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 15, 24, 30, 50, dag 35, 38, 40: its later objects and what waits for it aren't deployed, the others are", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		refused := &deploy.InvalidError{Ref: configMapRef("bad"), Err: errors.New("data: too long")}
		w.refuse = refusing(refused, "apply ConfigMap shop/bad")
		r := w.reconciler(adding(func(s *Session) {
			bad := s.Add("bad", configMap("first"), configMap("bad"), configMap("never"))
			s.Add("after", configMap("after")).After(bad)
			s.Add("apart", configMap("apart"))
		}), Concurrency(0))
		calls, _, err := w.once(r)
		assert.EqualError(t, err, "component bad: "+refused.Error())
		assert.Equal(t, []string{"apply ConfigMap shop/apart", "apply ConfigMap shop/first", "apply ConfigMap shop/bad", writeStatus}, calls)
		assert.Equal(t, "ConfigError/Errored", w.verdict())
		assert.Equal(t, map[string]any{
			"allComponents": []any{"after", "apart", "bad"}, "deployedComponents": []any{"apart"}, "verifiedComponents": []any{"apart"},
			"failedComponents": []any{"bad"}, "unverifiedComponents": []any{},
			"unstartedComponents": []any{map[string]any{"name": "after", "reason": "waits for bad (failed)"}},
			"componentMessages":   []any{map[string]any{"name": "bad", "message": refused.Error()}},
			"deployed":            "1/3", "verified": "1/3", "kinds": []any{"v1/ConfigMap"},
		}, w.widget().Object["status"].(map[string]any)["componentStatus"], "reconcile 50")
		w.refuse = nil
		assert.Equal(t, []string{"apply ConfigMap shop/bad", "apply ConfigMap shop/never", "apply ConfigMap shop/after", writeStatus}, w.calm(r),
			"mended, it goes on where it was")
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 19, 25: an object that is no manifest fails its component", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		nameless := configMap("")
		calls, _, err := w.once(w.reconciler(adding(func(s *Session) {
			s.Add("bad", nameless)
			s.Add("apart", configMap("apart"))
		})))
		assert.EqualError(t, err, "component bad: "+(&deploy.InvalidManifestError{Ref: deploy.Ref{Kind: configMaps}, Reason: "metadata.name is missing"}).Error())
		assert.Equal(t, []string{"apply ConfigMap shop/apart", writeStatus}, calls)
		assert.Equal(t, "ConfigError/Errored", w.verdict())
	})
	t.Run("reconcile 22: a Setup that fails deploys nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		calls, _, err := w.once(w.reconciler(&controller{func(_ context.Context, s *Session) error {
			s.Add("c", configMap("c"))
			return errors.New("no template")
		}}))
		assert.EqualError(t, err, "setup: no template")
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, "Errored/Errored", w.verdict())
	})
	t.Run("status 23: an object that failed fails its component, deployed as it is", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a"), deployment("d")) }))
		w.calm(r)
		w.makeFailed("d")
		_, _, err := w.once(r)
		assert.EqualError(t, err, "component c: Deployment d: Failed (no progress)")
		assert.Equal(t, "Errored/Errored", w.verdict())
		state := w.widget().Object["status"].(map[string]any)["componentStatus"].(map[string]any)
		assert.Equal(t, []any{"c"}, state["failedComponents"])
	})
	t.Run("status 16: an object that went meanwhile isn't ready", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }),
			ObserveComponents(func(*Component, deploy.Results) { w.delete(configMapRef("a")) }))
		w.calm(r)
		assert.Equal(t, "Initializing/VerifyWait", w.verdict())
		assert.Regexp(t, `^c: ConfigMap a: NotFound \(.+\)$`, w.message())
	})
	t.Run("status 16: one that can't be read is an error", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var deployed atomic.Bool
		w.unreadable = func(ref deploy.Ref) error {
			if deployed.Load() && ref == configMapRef("a") {
				return forbidden("get", "configmaps")
			}
			return nil
		}
		r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }),
			ObserveComponents(func(*Component, deploy.Results) { deployed.Store(true) }))
		_, _, err := w.once(r)
		assert.EqualError(t, err, "component c: "+forbidden("get", "configmaps").Error())
		assert.Equal(t, "Initializing/ClusterError", w.verdict())
	})
	t.Run("reconcile 25, dag 36, mistake 2: one that only waits isn't deployed, nor verified", func(t *testing.T) {
		t.Parallel()
		terminating := owned(configMap("a"), widgetUID)
		terminating.SetFinalizers([]string{"example.dev/slow"})
		w := newWorld(t, terminating)
		w.delete(configMapRef("a"))
		calls := w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a"), configMap("b")) })))
		assert.Equal(t, []string{writeStatus}, calls)
		state := w.widget().Object["status"].(map[string]any)["componentStatus"].(map[string]any)
		assert.Equal(t, "0/1", state["deployed"])
		assert.Equal(t, "0/1", state["verified"])
	})
}

func TestErrorsBySeverity(t *testing.T) {
	t.Parallel()
	const a, b, c, d = "apply ConfigMap shop/a", "apply ConfigMap shop/b", "apply ConfigMap shop/c", "apply ConfigMap shop/d"
	failures := map[string]error{
		a: &deploy.ForbiddenError{Verb: "patch", Err: errors.New("no")},
		b: &deploy.InvalidError{Ref: configMapRef("b"), Err: errors.New("no")},
		c: &deploy.TerminatingError{Ref: configMapRef("c")},
		d: errors.New("weird"),
	}
	for _, row := range []struct {
		reason  string
		failing []string
		first   string
		verdict string
	}{
		{"reconcile mistake 3: cluster before what waits", []string{a, c}, "component a: ", "Initializing/ClusterError"},
		{"reconcile mistake 3: configuration before cluster", []string{a, b, c}, "component b: ", "ConfigError/Errored"},
		{"reconcile mistake 3: unknown before all", []string{a, b, c, d}, "component d: weird\ncomponent b: ", "Errored/Errored"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.refuse = func(call string) error {
				for _, failing := range row.failing {
					if call == failing {
						return failures[call]
					}
				}
				return nil
			}
			_, _, err := w.once(w.reconciler(adding(func(s *Session) {
				for _, name := range []string{"a", "b", "c", "d"} {
					s.Add(name, configMap(name))
				}
			})))
			require.Error(t, err)
			assert.Regexp(t, "^"+row.first, err.Error())
			assert.Equal(t, row.verdict, w.verdict())
			assert.Equal(t, err.Error(), w.message(), "all are in the message")
		})
	}
}

func TestWhenToLookAtWhatWaits(t *testing.T) {
	t.Parallel()
	soon, late := request.RetryAfter(5*time.Second, request.Precondition("soon")), request.RetryAfter(time.Hour, request.Precondition("late"))
	for reason, row := range map[string]struct {
		errs  []error
		ready bool
		want  time.Duration
	}{
		"as a component asks":                     {[]error{soon}, true, 5 * time.Second},
		"the soonest of several":                  {[]error{late, soon}, true, 5 * time.Second},
		"also when that is late":                  {[]error{late}, true, time.Hour},
		"one that doesn't say":                    {[]error{late, request.Precondition("x")}, true, time.Minute},
		"one whose objects aren't ready":          {[]error{late}, false, time.Minute},
		"to ask for no time is not to ask for it": {[]error{request.RetryAfter(0, request.Precondition("x"))}, true, time.Minute},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, result, err := w.once(w.reconciler(adding(func(s *Session) {
				for i, err := range row.errs {
					s.Use(string(rune('a'+i)), &built{func(context.Context, *Session, *Component) error { return err }})
				}
				if !row.ready {
					s.Add("deployment", deployment("d"))
				}
			})))
			require.NoError(t, err)
			assert.Equal(t, row.want, result.RequeueAfter)
		})
	}
}

func TestGatesAreNotPolled(t *testing.T) {
	t.Parallel()
	t.Run("reconcile mistake 21: asked when a component ends, else twice a second", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			slow := &built{func(context.Context, *Session, *Component) error { time.Sleep(2 * time.Second); return nil }}
			w.calm(w.reconciler(adding(func(s *Session) {
				s.Use("slow", slow)
				s.Add("b").After(s.Add("a"), func(context.Context, *Component) (bool, error) { asked++; return false, nil })
			})))
			assert.LessOrEqual(t, asked, 6)
			assert.GreaterOrEqual(t, asked, 2)
		})
	})
}

// What is made anew and takes long to go holds up nobody.
func TestRecreateDoesNotHoldTheWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		app := "a"
		r := w.reconciler(adding(func(s *Session) {
			d := deployment("d")
			require.NoError(t, unstructured.SetNestedStringMap(d.Object, map[string]string{"app": app}, "spec", "selector", "matchLabels"))
			s.Add("c").Add("d", d, By(deploy.Recreate))
			s.Add("other", configMap("other"))
		}))
		w.calm(r)
		w.merge(deploymentRef("d"), `{"metadata":{"finalizers":["example.dev/slow"]}}`)
		app = "b"
		w.refuse = refusing(&deploy.InvalidError{Ref: deploymentRef("d"), Causes: []deploy.InvalidField{{Field: "spec.selector", Message: "field is immutable"}}, Err: errNo},
			"apply Deployment shop/d")
		began := time.Now()
		_, result, err := w.once(r)
		require.NoError(t, err)
		assert.LessOrEqual(t, time.Since(began), time.Second)
		assert.Equal(t, time.Minute, result.RequeueAfter)
		assert.Equal(t, "Initializing/VerifyWait", w.verdict())
		assert.Contains(t, w.message(), "finalizers example.dev/slow")
		w.refuse = nil
		w.merge(deploymentRef("d"), `{"metadata":{"finalizers":null}}`)
		w.calm(r)
		assert.Equal(t, "b", w.get(deploymentRef("d")).Object["spec"].(map[string]any)["selector"].(map[string]any)["matchLabels"].(map[string]any)["app"])
	})
}
