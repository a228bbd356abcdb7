package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settled is a harness on which the usual shop is ready.
func settled(t T, options ...Option) *Harness {
	h := New(t, market(), options...)
	h.Apply(tea)
	h.RunUntilSettled()
	return h
}

func TestItFails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		test   func(t *trial)
		says   []string
	}{
		{"an object that wasn't created", func(t *trial) { settled(t).Created("Deployment web") },
			[]string{"Deployment web: was not created; the calls were:\n  created Deployment test/tea-store\n"}},
		{"one of another namespace", func(t *trial) { settled(t).Created("Deployment shop/tea-store") }, []string{"was not created"}},
		{"one of another group", func(t *trial) { settled(t).Created("Deployment.example.dev tea-store") }, []string{"was not created"}},
		{"one that was created, not configured", func(t *trial) { settled(t).Configured("ConfigMap tea-door") }, []string{"ConfigMap tea-door: was not configured"}},
		{"one of a subresource", func(t *trial) { settled(t).Configured("Shop tea") }, []string{"Shop tea: was not configured"}},
		{"one that wasn't deleted", func(t *trial) { settled(t).Deleted("ConfigMap tea-door") }, []string{"was not deleted"}},
		{"calls of an earlier run", func(t *trial) {
			h := settled(t)
			h.RunUntilSettled()
			h.Created("Deployment tea-store")
		}, []string{"the calls were: none"}},
		{"a kill that never happens", func(t *trial) { settled(t).Kill(5, false) }, []string{"kill at write 5: this never happened; there were 4 writes"}},
		{"a kill at no write", func(t *trial) { settled(t).Kill(0, false) }, []string{"kill at write 0: use 1 for the next write"}},
		{"a fault of no request", func(t *trial) { settled(t).FailRequest(0, dryrun.Fault{}) }, []string{"fail request 0: use 1 for the first request"}},
		{"something before no request", func(t *trial) { settled(t).BeforeRequest(-1, func() {}) }, []string{"before request -1: use 1 for the first request"}},
		{"a watch of a kind that nobody watches", func(t *trial) { settled(t).Stall("Job") }, []string{"stall Job: nobody watches this kind, and there is no object of it"}},
		{"an order outside of a bubble", func(t *trial) { New(t, market(), Interleave(func([]Call) int { return 0 })) }, []string{"run it in synctest.Test"}},
		{"another number of writes", func(t *trial) { settled(t).Writes(3) }, []string{"writes: 4, want 3:\n  created Deployment test/tea-store"}},
		{"a bad name", func(t *trial) { settled(t).Created("web") }, []string{`"web": not a name of an object`}},
		{"an empty name", func(t *trial) { settled(t).Exists("Deployment test/") }, []string{"not a name of an object"}},
		{"a subresource where an object is needed", func(t *trial) { settled(t).Exists("Shop tea status") }, []string{"names a subresource"}},
		{"a kind that there isn't", func(t *trial) { settled(t).Exists("Shoe tea") }, []string{`"Shoe tea": the cluster has no such kind`}},
		{"a kind that is two", func(t *trial) {
			h := settled(t)
			h.Apply("{apiVersion: other.dev/v1, kind: Shop, metadata: {name: tea}}")
			h.Get("Shop tea")
		}, []string{"name the group too"}},
		{"an object that doesn't exist", func(t *trial) { settled(t).Exists("ConfigMap roof") }, []string{"ConfigMap roof: doesn't exist"}},
		{"one that still exists", func(t *trial) { settled(t).Gone("ConfigMap tea-door") }, []string{"ConfigMap tea-door: still exists"}},
		{"one that a finalizer keeps", func(t *trial) {
			h := settled(t)
			h.Edit("ConfigMap tea-door", func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"example.dev/keep"}) })
			h.Delete("ConfigMap tea-door")
			h.Gone("ConfigMap tea-door")
		}, []string{`kept by its finalizers ["example.dev/keep"]`}},
		{"a resource that isn't ready", func(t *trial) {
			h := New(t, market())
			h.Hold("Deployment tea-store")
			h.Apply(tea)
			h.RunUntilSettled()
			h.Ready("Shop tea")
		}, []string{"Shop tea: isn't ready: Initializing: ", "Updating: VerifyWait: ", "door waits for store"}},
		{"one that isn't there", func(t *trial) { settled(t).Ready("Shop coffee") }, []string{"it doesn't exist"}},
		{"one of which an edit isn't reconciled yet", func(t *trial) {
			h := settled(t)
			h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": "new"} })
			h.Ready("Shop tea")
		}, []string{"its generation 2 isn't reconciled yet, the latest reconciled generation is 1"}},
		{"a condition of nothing", func(t *trial) { settled(t).Condition("Shop coffee", "Ready") }, []string{"there is no such object"}},
		{"an edit of nothing", func(t *trial) { settled(t).Edit("Shop coffee", nil) }, []string{"reconciletest: edit: "}},
		{"a deletion of nothing", func(t *trial) { settled(t).Delete("Shop coffee") }, []string{"reconciletest: delete: "}},
		{"a status of nothing", func(t *trial) { settled(t).SetStatus("Shop coffee", map[string]any{}) }, []string{"reconciletest: set status: "}},
		{"nothing to apply", func(t *trial) { settled(t).Apply(nil) }, []string{"apply: object 1: an object is nil"}},
		{"text without objects", func(t *trial) { settled(t).Apply("# empty") }, []string{"the text holds no object"}},
		{"text that is none", func(t *trial) { settled(t).Apply("a: [") }, []string{"apply: object 1: "}},
		{"an object without a kind", func(t *trial) { settled(t).Apply(map[string]any{"kind": "Shop"}) }, []string{"no apiVersion and kind"}},
		{"an object that the cluster refuses", func(t *trial) {
			settled(t).Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dta: {}}")
		}, []string{"reconciletest: apply: ", "dta"}},
		{"a resource of no controller", func(t *trial) { _, _ = settled(t).Reconcile("ConfigMap tea-door") }, []string{"no controller of the test is for that kind"}},
		{"time that runs backwards", func(t *trial) { settled(t).Advance(-time.Second) }, []string{"time doesn't run backwards"}},
		{"a kind that can't fail", func(t *trial) { settled(t).Break("Service web", "x") }, []string{"never report a failure: use Hold"}},
		{"a release of nothing", func(t *trial) { settled(t).Release("Service web") }, []string{"it was neither held nor broken"}},
		{"a hold of a bad name", func(t *trial) { settled(t).Hold("web") }, []string{"not a name of an object"}},
		{"no controller", func(t *trial) { New(t, nil) }, []string{"nil controller"}},
		{"two controllers of a kind", func(t *trial) { New(t, market(), Also(market())) }, []string{"Shop has a controller already"}},
		{"an empty namespace", func(t *trial) { New(t, market(), Namespace("")) }, []string{"namespace: is empty"}},
		{"no time to be quiet", func(t *trial) { New(t, market(), On(New(t, market()).Cluster(), -1)) }, []string{"quiet: -1ns: it can't be negative"}},
		{"no reconcile at all", func(t *trial) { New(t, market(), MaxReconciles(0)) }, []string{"max reconciles: 0: at least 1"}},
		{"a simulation that is nil", func(t *trial) { New(t, market(), Simulate(schema.GroupKind{Kind: "A"}, nil)) }, []string{"simulate A: the simulation is nil"}},
		{"definitions that aren't there", func(t *trial) { New(t, market(), Definitions("testdata/nowhere")) }, []string{"the cluster in memory: ", "testdata/nowhere"}},
		{"definitions that are none", func(t *trial) { New(t, market(), Definitions("testdata/none.yaml")) }, []string{"testdata/none.yaml: holds no CustomResourceDefinition"}},
		{"a look after the test has ended", func(t *trial) {
			h := settled(t)
			ctx, cancel := context.WithCancelCause(t.ctx)
			cancel(errors.New("out of time"))
			t.ctx = ctx
			h.RunUntilSettled()
		}, []string{"look at the cluster: "}},
		{"a golden file that isn't there", func(t *trial) { settled(t).Golden("Shop tea", "nothing") }, []string{"testdata/nothing.yaml: doesn't exist: run the test with -update"}},
		{"a render of nothing", func(t *trial) { settled(t).Render("ConfigMap tea-door") }, []string{"no controller of the test is for the kind ConfigMap"}},
		{"a render of a resource that isn't there", func(t *trial) { settled(t).Render("Shop coffee") },
			[]string{"render Shop coffee: the test hasn't applied it, or has deleted it"}},
		{"a golden file of one, which isn't looked at", func(t *trial) { settled(t).Golden("Shop coffee", "nothing") },
			[]string{"render Shop coffee: the test hasn't applied it, or has deleted it"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			said := try(t, row.test)
			for _, says := range row.says {
				assert.Contains(t, said, says)
			}
		})
	}
}

// spinning asks to be reconciled again and again.
type spinning struct{ *shop }

func (spinning) Requeue(context.Context, *reconcile.Session, reconcile.Outcome) (time.Duration, error) {
	return time.Nanosecond, nil
}

func TestHotLoops(t *testing.T) {
	t.Parallel()
	count := func(add func(s *reconcile.Session, n int) error) *shop {
		n := 0
		return &shop{func(_ context.Context, s *reconcile.Session) error {
			n++
			return add(s, n)
		}}
	}
	for _, row := range []struct {
		reason string
		test   func(t *trial)
		says   []string
	}{
		{"an object that is never the same, with the diff that keeps changing", func(t *trial) {
			h := New(t, count(func(s *reconcile.Session, n int) error {
				s.Add("door", settings("calm", nil), settings("door", map[string]any{"at": fmt.Sprint(n), "sign": "open"}))
				return nil
			}))
			h.Apply(tea)
			h.RunUntilSettled()
		}, []string{
			"hot loop: Shop test/tea was reconciled 101 times and hasn't settled (the last ended with: again after 10m0s).",
			"\nConfigMap test/door was changed 100 times; its latest changes:\n", `.data.at: "100" -> "101"`, `.data.at: "98" -> "99"`,
		}},
		{"an error that never says the same", func(t *trial) {
			h := New(t, count(func(_ *reconcile.Session, n int) error { return fmt.Errorf("at %d", n) }))
			h.Apply(tea)
			h.RunUntilSettled()
		}, []string{"(the last ended with: setup: at 100)", "Shop test/tea status was changed 100 times"}},
		{"objects that come and go", func(t *trial) {
			h := New(t, count(func(s *reconcile.Session, n int) error {
				if c := s.Add("door", settings("door", nil)); n%2 == 0 {
					c.Disable()
				}
				return nil
			}))
			h.Apply(tea)
			h.RunUntilSettled()
		}, []string{"was reconciled 10"}},
		{"objects of ever new names", func(t *trial) {
			h := New(t, count(func(s *reconcile.Session, n int) error {
				s.Add("door", settings(fmt.Sprintf("door-%d", n), nil))
				return nil
			}), MaxReconciles(10))
			h.Apply(tea)
			h.RunUntilSettled()
		}, []string{"was reconciled 100 times"}},
		{"a result that asks for it at once: nothing was changed", func(t *trial) {
			h := New(t, spinning{count(func(*reconcile.Session, int) error { return nil })})
			h.Apply(tea)
			h.Fail("", Setup, errors.New("never")).Times(1000)
			h.RunUntilSettled()
		}, []string{"was reconciled 100 times", "Shop test/tea status was changed 1 times"}},
		{"while time is moved: not what comes again with time", func(t *trial) {
			h := New(t, count(func(s *reconcile.Session, n int) error {
				s.Add("door", settings("door", map[string]any{"at": fmt.Sprint(n)}), workload("Deployment", "store"))
				return nil
			}), MaxReconciles(7))
			h.Hold("Deployment store") // a reconcile that leaves something to do may be brought by its own writes
			h.Apply(tea)
			h.Advance(time.Hour)
		}, []string{"was reconciled 8 times"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			said := try(t, row.test)
			for _, says := range row.says {
				assert.Contains(t, said, says)
			}
			assert.NotContains(t, said, "calm")
		})
	}
	t.Run("a long rollout is none", func(t *testing.T) {
		t.Parallel()
		h := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
			var last *reconcile.Component
			for i := range 20 {
				c := s.Add(fmt.Sprint("c", i), workload("Deployment", fmt.Sprint("d", i)))
				if last != nil {
					c.After(last, reconcile.Ready)
				}
				last = c
			}
			return nil
		}}, MaxReconciles(10))
		h.Apply(tea)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.Greater(t, len(h.Runs()), 40)
	})
	t.Run("what moves with time is none", func(t *testing.T) {
		t.Parallel()
		var h *Harness
		h = New(t, pacing{&shop{func(_ context.Context, s *reconcile.Session) error {
			s.Add("door", settings("door", map[string]any{"at": h.Now().String()}))
			return nil
		}}}, MaxReconciles(7))
		h.Apply(tea)
		h.Advance(time.Hour)
		h.Ready("Shop tea")
		assert.Contains(t, try(t, func(trial *trial) {
			h.t = trial
			h.RunUntilSettled()
		}), "hot loop", "although it never settles")
	})
}
