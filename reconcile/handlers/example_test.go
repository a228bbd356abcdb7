package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zones

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// newClaims returns the handlers of claims: each claim gets a ConfigMap, which grows with it.
func newClaims() *handlers.Handlers[Claim] {
	h := handlers.New[Claim](claims)
	h.On(handlers.Create, "volume", func(ctx context.Context, r *handlers.Request[Claim]) error {
		volume := corev1ac.ConfigMap(r.Object.Name, r.Object.Namespace).WithData(map[string]string{"size": fmt.Sprint(r.Object.Spec.Size)})
		if err := r.Apply(ctx, volume); err != nil {
			return err
		}
		r.Update(func(c *Claim) { c.Status.Volume = c.Name })
		return nil
	}, handlers.Reports("Claimed"))
	h.Field("spec.size", "grow", func(ctx context.Context, r *handlers.Request[Claim]) error {
		if r.Object.Spec.Size < r.Old.Spec.Size {
			return errors.New("a volume can't shrink")
		}
		return r.Apply(ctx, corev1ac.ConfigMap(r.Object.Name, r.Object.Namespace).
			WithData(map[string]string{"size": fmt.Sprint(r.Object.Spec.Size)}))
	}, handlers.MaxAttempts(5), handlers.Backoff(10*time.Second))
	return h
}

// TestClaims is what the test of handlers looks like.
func TestClaims(t *testing.T) {
	h := reconciletest.Drive(t, newClaims())
	h.Apply(small)
	h.RunUntilSettled()
	h.Created("ConfigMap small")
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	h.Configured("ConfigMap small", "Claim small")
	h.RunUntilSettled()
	h.Writes(0)
}

// console is a T that prints, for the examples: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                  {}
func (console) Context() context.Context { return context.Background() }
func (console) Cleanup(func())           {}
func (console) Failed() bool             { return false }
func (console) Logf(string, ...any)      {}

func (console) Errorf(format string, args ...any) { fmt.Printf("FAIL: "+format+"\n", args...) }
func (console) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Each claim gets a ConfigMap, and its status has the name.
func Example() {
	h := reconciletest.Drive(console{}, newClaims()) // in a test: its *testing.T
	h.Apply(small)
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		fmt.Println(call)
	}
	fmt.Println(h.Get("Claim small").Object["status"].(map[string]any)["volume"])
	// Output:
	// created ConfigMap test/small
	// configured Claim test/small status
	// configured Claim test/small
	// small
}

// A handler of a map gets one change for each key. Each is a step of its own, so that none is repeated when a later one
// fails.
func ExampleRequest_Step() {
	c := handlers.New[Claim](claims)
	c.Field("metadata.labels", "relabel", func(ctx context.Context, r *handlers.Request[Claim]) error {
		for _, change := range r.Diff {
			if op := handlers.Op(change.Op); op == handlers.Removed {
				continue
			}
			if err := r.Step(ctx, change.Path[0], func(context.Context) error {
				fmt.Println(change.Op, change.Path[0], change.Old, change.New)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Edit("Claim small", func(claim *unstructured.Unstructured) {
		claim.SetLabels(map[string]string{"tier": "silver", "zone": "a"})
	})
	h.RunUntilSettled()
	// Output:
	// change tier gold silver
	// add zone <nil> a
}

// Filters choose the objects and the updates for which a handler is called.
func ExampleWhen() {
	c := handlers.New[Claim](claims, handlers.Ignoring("spec.unknown"), handlers.Finalizer("example.dev/claims"))
	says := func(text string) handlers.Func[Claim] {
		return func(_ context.Context, r *handlers.Request[Claim]) error {
			fmt.Println(text, r.Cause)
			return nil
		}
	}
	large := handlers.When(func(c *Claim) bool { return c.Spec.Size > 1 })
	c.On(handlers.Create|handlers.Update, "gold", says("gold"), handlers.Label("tier", handlers.Equal("gold")))
	c.On(handlers.Create, "plain", says("plain"), handlers.Annotation("note", handlers.Absent), handlers.InField("spec.mode"), handlers.Value(handlers.Absent))
	c.On(handlers.Create|handlers.Resume, "large", says("large"), large)
	c.On(handlers.Update, "from-1", says("from 1"), handlers.InField("spec.size"), handlers.Before(handlers.Equal(1)), handlers.After(handlers.Not(handlers.Equal(3))))
	c.On(handlers.Update, "either", says("2 or 3"), handlers.InField("spec.size"), handlers.After(handlers.AnyOf(handlers.Equal(2), handlers.Equal(3))))
	c.Field("spec.mode", "mode", says("mode"), handlers.AtCreation(), handlers.Value(handlers.AllOf(handlers.Present, handlers.Equal("fast"))))
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	edit(h, "mode", "fast")
	h.RunUntilSettled()
	// Output:
	// gold create
	// plain create
	// gold update
	// from 1 update
	// 2 or 3 update
	// gold update
	// mode update
}

// Options decide what an error means, and when a handler has failed for good.
func ExampleErrors() {
	c := handlers.New[Claim](claims)
	fails := func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println("attempt", r.Attempt)
		return errors.New("no disk")
	}
	c.On(handlers.Create, "log", fails, handlers.Errors(handlers.Ignore))
	c.On(handlers.Create, "check", fails, handlers.Errors(handlers.Fail), handlers.Reports("Checked"), handlers.Formerly("test"))
	c.On(handlers.Create, "format", fails, handlers.Errors(handlers.Retry), handlers.Within(time.Minute), handlers.Backoff(40*time.Second))
	c.On(handlers.Resume, "resume", fails, handlers.WhileDeleting())
	c.On(handlers.Delete, "bye", fails, handlers.Optional())
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.Advance(time.Hour)
	checked := h.Condition("Claim small", "Checked")
	fmt.Println(checked.Status, checked.Message)
	// Output:
	// attempt 1
	// attempt 1
	// attempt 1
	// attempt 2
	// False no disk
}

// A handler reports results, conditions and events, and keeps values in memory for the next call.
func ExampleMemo() {
	type calls struct{ n int }
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "count", func(ctx context.Context, r *handlers.Request[Claim]) error {
		memo := handlers.Memo[calls](r)
		memo.n++
		r.Logger().Debug("called", "calls", memo.n)
		r.Record(event.Normal, "Counted", "%d calls", memo.n)
		if err := r.Condition("Counted", metav1.ConditionTrue, "Counted", fmt.Sprint(memo.n)); err != nil {
			return err
		}
		manager, err := r.Manager()
		if err != nil {
			return err
		}
		live, err := manager.Get(ctx, r.Ref)
		if err != nil {
			return err
		}
		return r.Result(map[string]any{"calls": memo.n, "name": live.GetName()})
	}, handlers.Reports("Counted"))
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	fmt.Println(h.Get("Claim small").Object["status"].(map[string]any)["count"])
	// Output: map[calls:2 name:small]
}

// Handlers of any kind get unstructured objects. Seen handlers are called for each event; without a record on the objects,
// nothing is written at all.
func ExampleStateless() {
	c := handlers.New[handlers.Unstructured](claims, handlers.Stateless())
	c.Seen("log", func(_ context.Context, r *handlers.Request[handlers.Unstructured]) error {
		fmt.Println(r.Event, r.Object.GetName())
		return nil
	})
	c.On(handlers.Update, "log-updates", func(_ context.Context, r *handlers.Request[handlers.Unstructured]) error {
		fmt.Println(r.Cause, r.Diff)
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	h.Writes(0)
	// Output:
	// ADDED small
	// MODIFIED small
	// update [change .spec.size: 1 -> 2]
}

// FromKopf continues what a kopf operator has begun: this claim isn't created anew.
func ExampleFromKopf() {
	c := handlers.New[Claim](claims, handlers.FromKopf("", ""))
	c.On(handlers.Create|handlers.Resume, "all", func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println(r.Cause)
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(`
apiVersion: example.dev/v1
kind: Claim
metadata:
  name: small
  annotations: {kopf.zalando.org/last-handled-configuration: '{"spec":{"size":1}}'}
spec: {size: 1}`)
	h.RunUntilSettled()
	// Output: resume
}

// Timers and crons are called by time, as long as the object is there.
func ExampleHandlers_Timer() {
	c := handlers.New[Claim](claims)
	says := func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println("look at", r.Object.Name)
		return nil
	}
	c.Timer("look", time.Minute, says, handlers.InitialDelay(10*time.Second), handlers.Sharp())
	c.Timer("rest", time.Hour, says, handlers.Idle(24*time.Hour))
	c.Cron("yearly", "30 3 24 12 *", says, handlers.Zone("Europe/Berlin"))
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.Advance(2 * time.Minute)
	h.Writes(0)
	// Output:
	// look at small
	// look at small
}

// A timer deletes objects whose time is over; their handlers of Delete are called then.
func ExampleRequest_Delete() {
	c := handlers.New[Claim](claims)
	c.Timer("expire", time.Minute, func(ctx context.Context, r *handlers.Request[Claim]) error {
		return r.Delete(ctx)
	}, handlers.InitialDelay(time.Hour))
	c.On(handlers.Delete, "bye", func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println("bye,", r.Object.Name)
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small)
	h.Advance(time.Hour)
	h.Gone("Claim small")
	// Output: bye, small
}
