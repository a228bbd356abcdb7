package reconciletest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The rollout of a shop takes four writes. The operator is killed at each of them.
func TestKill(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 4; at++ {
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("harness 8: killed at write %d, which arrives: %t", at, arrives), func(t *testing.T) {
				t.Parallel()
				h := New(t, market())
				h.Apply(tea)
				h.Kill(at, arrives)
				h.RunUntilSettled()
				assert.False(t, h.Killed())
				h.Ready("Shop tea")
				h.Exists("Deployment tea-store", "ConfigMap tea-door")
				if arrives {
					assert.LessOrEqual(t, countWrites(h), 5, "what has arrived isn't sent again")
				} else {
					h.Writes(5)
				}
				h.RunUntilSettled()
				h.Writes(0)
			})
		}
	}
}

func TestFailRequest(t *testing.T) {
	t.Parallel()
	one := []Option{With(reconcile.Concurrency(1)), Manager(deploy.Concurrency(1))}
	undisturbed := New(t, market(), one...)
	undisturbed.Apply(tea)
	undisturbed.RunUntilSettled()
	calls := undisturbed.Calls()
	for n, call := range calls {
		for name, fault := range map[string]dryrun.Fault{"isn't sent": {Code: http.StatusInternalServerError}, "is lost": {Lost: true}} {
			t.Run(fmt.Sprintf("harness 18: request %d fails and %s", n+1, name), func(t *testing.T) {
				t.Parallel()
				h := New(t, market(), one...)
				h.Apply(tea)
				h.FailRequest(n+1, fault)
				h.RunUntilSettled()
				met := h.Calls()[n]
				assert.Equal(t, call.Ref, met.Ref)
				assert.ErrorAs(t, met.Err, new(*deploy.UnavailableError))
				for i, other := range h.Calls() {
					assert.True(t, i == n || other.Err == nil, "request %d: %v", i+1, other.Err)
				}
				h.Ready("Shop tea")
				h.FailRequest(1, fault)
				h.RunUntilSettled()
				h.Writes(0)
				h.Delete("ConfigMap tea-door")
				h.RunUntilSettled()
				assert.NoError(t, h.Calls()[0].Err, "it was for one run")
			})
		}
	}
}

// counting is a controller that counts its calls of Setup.
type counting struct {
	reconcile.Controller
	calls int
}

// Setup implements reconcile.Controller.
func (c *counting) Setup(ctx context.Context, s *reconcile.Session) error {
	c.calls++
	return c.Controller.Setup(ctx, s)
}

func TestRenew(t *testing.T) {
	t.Parallel()
	t.Run("harness 17: each process has a controller of its own", func(t *testing.T) {
		t.Parallel()
		first := &counting{Controller: market()}
		made := []*counting{first}
		h := New(t, first, Renew(func() *counting {
			made = append(made, &counting{Controller: market()})
			return made[len(made)-1]
		}))
		h.Apply(tea)
		h.Kill(2, false)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		h.Restart()
		h.RunUntilSettled()
		require.Len(t, made, 3)
		for _, c := range made {
			assert.Positive(t, c.calls)
		}
		calls := first.calls
		h.RunUntilSettled()
		assert.Equal(t, calls, first.calls, "the first one has ended")
	})
	for name, row := range map[string]struct {
		renew Option
		says  string
	}{
		"another kind":  {Renew(func() reconcile.Controller { return Controlling(TestedKind, nil) }), "returned a controller of test.operkit.dev/v1, Kind=Tested"},
		"another style": {Renew(func() watch.Controller { return watch.NewController(gears, nil) }), "returned another type of controller"},
	} {
		t.Run("harness 17: "+name+" is refused", func(t *testing.T) {
			t.Parallel()
			h := New(t, market(), row.renew)
			assert.ErrorContains(t, h.renew(), row.says)
		})
	}
}

func countWrites(h *Harness) (n int) {
	for _, call := range h.Calls() {
		if call.Write() {
			n++
		}
	}
	return n
}

// An operator may write beside its reconciles, such as by an external source.
func TestKillBesideReconciles(t *testing.T) {
	t.Parallel()
	t.Run("harness 8: a goroutine is killed at its write, and writes nothing later", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var errs []error
			processes := 0
			h := Drive(t, watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
				processes++
				ref := deploy.Ref{Kind: gears, Namespace: "test", Name: "one"}
				label := func(ctx context.Context) {
					_, err := env.Manager.Change(ctx, ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
						next := current.DeepCopy()
						next.SetLabels(map[string]string{"process": fmt.Sprint(processes), "at": fmt.Sprint(env.Now().Unix())})
						return next, nil
					})
					errs = append(errs, err)
				}
				c := &clerk{env: env}
				c.sources.External = []source.External{source.Func(func(ctx context.Context, _ source.Target) {
					for {
						select {
						case <-time.After(time.Minute):
							label(ctx)
						case <-ctx.Done():
							label(context.WithoutCancel(ctx))
							return
						}
					}
				})}
				return c, nil
			}))
			h.Apply(one)
			h.Kill(2, false)
			h.Advance(150 * time.Second)
			require.Equal(t, 2, processes)
			require.Len(t, errs, 3)
			require.NoError(t, errs[0])
			assert.ErrorContains(t, errs[1], "killed")
			assert.ErrorContains(t, errs[2], "killed", "as its last word")
			assert.Equal(t, "1", h.Get("Gear one").GetLabels()["process"])
			h.Advance(time.Minute)
			assert.Equal(t, "2", h.Get("Gear one").GetLabels()["process"])
		})
	})
}
