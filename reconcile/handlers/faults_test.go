package handlers_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestFaults are faults that a review has found.
func TestFaults(t *testing.T) {
	t.Run("handlers 28: what a last handler sets is refused: it hasn't succeeded", faultRefused)
	t.Run("handlers 28: an attempt that fails and sets what is refused counts once", faultRefusedTwice)
	t.Run("handlers 28: what a timer sets is refused: it is called again", faultTimerRefused)
	t.Run("handlers 28: what a step sets is refused: it is called again", faultStepRefused)
	t.Run("handlers 28: what a handler of a deletion sets is refused", faultDeleteRefused)
	t.Run("handlers 24: what a timer couldn't write is written by the next pass", faultTimerUnwritten)
	t.Run("handlers 24: a failed last write makes no Resume of a Create", faultCreateResume)
	t.Run("handlers 94: a filter that panics stops no other handler, and releases nothing", faultPanic)
	t.Run("handlers 24: an edit after a failed last write is an update", faultEdited)
	t.Run("handlers 26: the progress of a deletion is kept in memory if it can't be stored", faultDeleteMemory)
	t.Run("handlers 26: a state before that can't be read releases nothing", faultOldUndecodable)
	t.Run("handlers 26: a status that can't be written keeps nothing", faultStatusBlocksDeletion)
	t.Run("handlers 28: an update that can't be made is a failure of its handler", faultPoisonPanic)
	t.Run("handlers 15: a deletion begins anew: the time", faultWithinAcrossCauses)
	t.Run("handlers 15: a deletion begins anew: the attempts", faultAttempts)
	t.Run("handlers 15: a deletion begins anew: after a time without an operator", faultAway)
	t.Run("handlers 8: Resume is once per process, whatever happens meanwhile", faultResumeRepeated)
	t.Run("handlers 8: Resume is called in each process", faultResumeLost)
	t.Run("handlers 15: a change that was taken back is told to those who have acted on it", faultRevert)
	t.Run("handlers 15: and told again if they fail", faultRevertRetried)
	t.Run("handlers 82: timers that were left when the time was over are called next", faultTimersCut)
	t.Run("handlers 81: an own change in the middle of a pass doesn't count", faultIdleOwn)
	t.Run("handlers 31: edits of a timer are no loop", faultTimerEdits)
	t.Run("handlers 20: the text of an error is bounded", faultHugeMessage)
	t.Run("handlers 83: the time of a call is no record of what was handled", faultCronRecord)
	t.Run("handlers 21: without the record it is handled as a new one", faultUnreadable)
	t.Run("handlers 10: a filter may be about the status", faultWhenStatus)
	t.Run("handlers 70: an owner that comes later", faultOwnerAdded)
	t.Run("handlers 18: the time of a pass is over: that is no attempt", faultEngineTime)
	t.Run("handlers 35: after a pass that failed", faultStatelessRestart)
	t.Run("handlers 35: after a pause", faultStatelessPaused)
}

func faultRefused(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "first", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("first")
		r.Update(func(c *Claim) { c.Status.Volume = "too long" })
		return nil
	}, handlers.Reports("First"), handlers.Backoff(time.Minute))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, "False", string(h.Condition("Claim small", "First").Status))
	h.Advance(time.Minute)
	assert.Len(t, j.taken(), 2)
}

func faultRefusedTwice(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "first", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("first %d", r.Attempt)
		r.Update(func(c *Claim) { c.Status.Volume = "too long" })
		return errors.New("boom")
	}, handlers.MaxAttempts(2), handlers.Backoff(time.Minute))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(time.Hour)
	assert.Equal(t, []string{"first 1", "first 2"}, j.taken())
}

func faultTimerRefused(t *testing.T) {
	c := handlers.New[Claim](claims)
	c.Timer("tick", time.Minute, func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Status.Volume = "too long" })
		return nil
	}, handlers.Reports("Ticked"))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, "False", string(h.Condition("Claim small", "Ticked").Status))
}

func faultStepRefused(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "first", func(ctx context.Context, r *handlers.Request[Claim]) error {
		j.write("first")
		return r.Step(ctx, "one", func(context.Context) error {
			r.Update(func(c *Claim) { c.Status.Volume = "too long" })
			return nil
		})
	}, handlers.Reports("First"), handlers.Backoff(time.Minute))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, "False", string(h.Condition("Claim small", "First").Status))
}

func faultDeleteRefused(t *testing.T) {
	var j journal
	crd := strings.Replace(strict, "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}", "spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {mode: {type: string, maxLength: 5}}}", 1)
	c := handlers.New[Claim](claims)
	c.On(handlers.Delete, "a", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("a")
		r.Update(func(c *Claim) { c.Spec.Mode = "too long" })
		return nil
	}, handlers.Backoff(time.Minute), handlers.MaxAttempts(2))
	c.On(handlers.Delete, "b", j.noting("b", errors.New("boom")), handlers.Backoff(10*time.Second))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, crd))))
	h.Apply(small)
	h.Advance(0)
	h.Delete("Claim small")
	h.Advance(time.Hour)
	t.Log(j.taken())
	h.Gone("Claim small")
}

func faultTimerUnwritten(t *testing.T) {
	c := handlers.New[Claim](claims)
	n := 0
	c.Timer("tick", time.Hour, func(_ context.Context, r *handlers.Request[Claim]) error {
		n++
		v := fmt.Sprint("v", n)
		r.Update(func(c *Claim) { c.Status.Volume = v })
		return nil
	}, handlers.InitialDelay(time.Minute))
	c.On(handlers.Create, "create", func(context.Context, *handlers.Request[Claim]) error { return nil })
	h := drive(t, c)
	h.Apply(small)
	h.Advance(30 * time.Second)
	h.Bring("Claim small")
	h.Advance(0) // settled: version
	require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Count: 1, Code: 403}))
	h.Advance(35 * time.Second)
	require.Equal(t, 1, n)
	h.Advance(10 * time.Minute)
	require.Equal(t, 1, n)
	status, _ := h.Get("Claim small").Object["status"].(map[string]any)
	assert.Equal(t, "v1", status["volume"])
}

func faultCreateResume(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Resume, "pvc", j.noting("pvc"))
	h := drive(t, c)
	h.Apply(small)
	require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Count: 1, Code: 403}))
	h.RunUntilSettled()
	assert.Equal(t, []string{"pvc create"}, j.taken())
}

func faultDeleteMemory(t *testing.T) {
	random := make([]byte, 150<<10)
	_, err := rand.Read(random)
	require.NoError(t, err)
	noise := fmt.Sprintf("%x", random)
	var j journal
	boom := errors.New("boom")
	c := handlers.New[Claim](claims)
	c.On(handlers.Delete, "first", j.noting("first"))
	c.On(handlers.Delete, "second", j.noting("second", boom, boom, boom, boom, boom, boom, boom), handlers.MaxAttempts(3), handlers.Backoff(time.Second))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["example.dev/noise"] = noise[:(256<<10)-len(annotations[recordKey])-len(recordKey)-len("example.dev/noise")]
		obj.SetAnnotations(annotations)
	})
	h.Delete("Claim small")
	h.Advance(20 * time.Second)
	assert.Equal(t, []string{"first delete", "second delete", "second delete", "second delete"}, j.taken())
}

func faultOldUndecodable(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "x", j.noting("x"))
	c.On(handlers.Delete, "delete", j.noting("delete"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		annotations[recordKey] = strings.Replace(annotations[recordKey], `"size":1`, `"size":"1Gi"`, 1) // of an earlier version of the operator
		obj.SetAnnotations(annotations)
	})
	j.taken()
	h.Restart()
	h.Delete("Claim small")
	h.RunUntilSettled()
	assert.Equal(t, []string{"delete delete"}, j.taken())
}

func faultStatusBlocksDeletion(t *testing.T) {
	crd := strings.Replace(strict, "subresources: {status: {}}", "", 1)
	c := handlers.New[Claim](claims)
	c.On(handlers.Delete, "delete", func(context.Context, *handlers.Request[Claim]) error { return nil }, handlers.Reports("Detached"))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, crd))))
	h.Apply(small)
	h.Advance(0)
	h.Delete("Claim small")
	h.Advance(10 * time.Minute)
	h.Gone("Claim small")
}

func faultPoisonPanic(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	var h *reconciletest.Harness
	c.On(handlers.Create, "create", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("create")
		h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetLabels(nil) }) // somebody edits meanwhile
		r.Update(func(c *Claim) { c.Status.Volume = c.Labels["tier"][:2] })
		return nil
	})
	c.On(handlers.Delete, "delete", j.noting("delete"))
	h = drive(t, c)
	h.Apply(small)
	h.Advance(time.Minute)
	h.Delete("Claim small")
	h.Advance(time.Hour)
	t.Log(j.taken())
	h.Gone("Claim small")
}

func faultWithinAcrossCauses(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Delete, "cloud", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s %d", r.Cause, r.Attempt)
		if r.Cause == handlers.Create {
			return errors.New("boom")
		}
		return nil
	}, handlers.Within(time.Hour), handlers.Backoff(25*time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(30 * time.Minute)
	h.Restart() // and it is away for a while
	h.Delete("Claim small")
	h.Advance(0)
	_ = h
	t.Log(j.taken())
}

func faultAttempts(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Delete, "cloud", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s %d", r.Cause, r.Attempt)
		return errors.New("boom")
	}, handlers.MaxAttempts(3), handlers.Backoff(time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(time.Minute)
	h.Delete("Claim small")
	h.Advance(10 * time.Minute)
	assert.Equal(t, []string{"create 1", "create 2", "delete 1", "delete 2", "delete 3"}, j.taken())
}

func faultAway(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Delete, "cloud", func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("%s %d", r.Cause, r.Attempt)
		if r.Cause == handlers.Create {
			return errors.New("boom")
		}
		return nil
	}, handlers.Within(time.Hour))
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, io.Discard)
	l.start()
	l.create()
	l.reconcile()
	l.now = l.now.Add(2 * time.Hour) // no operator runs
	require.NoError(t, l.cluster.Port().Delete(t.Context(), l.ref(), deploy.DeleteOptions{}))
	l.start()
	l.reconcile()
	obj, _ := l.cluster.Port().Get(t.Context(), l.ref())
	t.Log("still there:", obj != nil)
	assert.Equal(t, []string{"create 1", "delete 1"}, j.taken())
}

func faultResumeRepeated(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	c := handlers.New[Claim](claims)
	c.On(handlers.Resume, "a", j.noting("a"))
	c.On(handlers.Resume, "b", j.noting("b", boom, boom, boom, boom, boom), handlers.Backoff(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Restart()
	h.Advance(0)
	edit(h, "size", int64(2))
	h.Advance(0)
	edit(h, "size", int64(3))
	h.Advance(0)
	n := 0
	for _, line := range j.taken() {
		if strings.HasPrefix(line, "a ") {
			n++
		}
	}
	assert.Equal(t, 1, n, "once per process")
}

func faultResumeLost(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	c := handlers.New[Claim](claims)
	c.On(handlers.Resume, "a", j.noting("a"))
	c.On(handlers.Resume, "b", j.noting("b", boom, boom, boom, boom, boom), handlers.Backoff(time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	h.Restart()
	h.Advance(0)
	assert.Contains(t, j.taken(), "a resume")
	h.Restart()
	h.Advance(10 * time.Minute)
	assert.Contains(t, j.taken(), "a resume", "second process")
}

func faultRevert(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	c := handlers.New[Claim](claims)
	size := 0
	c.On(handlers.Create|handlers.Update, "resize", func(_ context.Context, r *handlers.Request[Claim]) error {
		size = r.Object.Spec.Size
		return nil
	})
	c.On(handlers.Update, "b", j.noting("b", boom, boom, boom, boom, boom), handlers.Backoff(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.Advance(0)
	require.Equal(t, 2, size)
	edit(h, "size", int64(1))
	h.Advance(24 * time.Hour)
	assert.Equal(t, 1, size)
}

func faultRevertRetried(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	c := handlers.New[Claim](claims)
	c.Field("spec.size", "a", j.noting("a", nil, boom), handlers.Backoff(time.Minute))
	c.Field("spec.size", "b", j.noting("b", boom, boom), handlers.Backoff(time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	edit(h, "size", int64(2))
	h.Advance(0)
	assert.Len(t, j.taken(), 2)
	edit(h, "size", int64(1))
	h.Advance(24 * time.Hour)
	assert.Equal(t, []string{"a update", "a update"}, j.taken(), "b has never acted on the change")
}

func faultTimersCut(t *testing.T) {
	n := 0
	c := handlers.New[Claim](claims)
	c.Timer("slow", 24*time.Hour, func(ctx context.Context, _ *handlers.Request[Claim]) error { <-ctx.Done(); return nil })
	c.Timer("quick", time.Minute, func(context.Context, *handlers.Request[Claim]) error { n++; return nil })
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, io.Discard)
	l.start()
	l.create()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	result, err := l.process.Reconcile(ctx, request.Request{Key: l.ref()})
	require.NoError(t, err)
	require.Zero(t, n)
	assert.LessOrEqual(t, result.RequeueAfter, time.Minute)
}

func faultIdleOwn(t *testing.T) {
	var j journal
	boom := errors.New("boom")
	first := true
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "a", func(_ context.Context, r *handlers.Request[Claim]) error {
		if first {
			first = false
			return boom
		}
		r.Update(func(c *Claim) { c.Spec.Mode = "own" })
		return nil
	}, handlers.Backoff(50*time.Minute))
	c.On(handlers.Create, "b", j.noting("b", boom), handlers.Backoff(55*time.Minute))
	c.Timer("idle", 0, j.noting("idle"), handlers.Idle(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(61 * time.Minute)
	assert.Contains(t, j.taken(), "idle ")
}

func faultTimerEdits(t *testing.T) {
	log := &strings.Builder{}
	c := handlers.New[Claim](claims)
	c.Timer("stamp", time.Minute, func(_ context.Context, r *handlers.Request[Claim]) error {
		r.Update(func(c *Claim) { c.Spec.Size++ })
		return nil
	})
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, log)
	l.start()
	l.create()
	for range 7 {
		l.reconcile()
		l.now = l.now.Add(time.Minute)
	}
	assert.NotContains(t, log.String(), "again and again")
}

func faultHugeMessage(t *testing.T) {
	random := make([]byte, 600<<10)
	_, err := rand.Read(random)
	require.NoError(t, err)
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "a", j.noting("a", fmt.Errorf("%x", random)), handlers.Backoff(time.Hour))
	c.On(handlers.Create, "b", j.noting("b"))
	c.Timer("c", time.Minute, j.noting("c"))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(10 * time.Minute)
	t.Log(j.taken(), len(h.Get("Claim small").GetAnnotations()[recordKey]))
	assert.Contains(t, h.Get("Claim small").GetAnnotations()[recordKey], `"b"`)
}

func faultCronRecord(t *testing.T) {
	for _, wait := range []time.Duration{0, 25 * time.Hour} {
		var j journal
		c := handlers.New[Claim](claims)
		c.Cron("nightly", "0 3 * * *", func(context.Context, *handlers.Request[Claim]) error { return nil })
		c.On(handlers.Create, "silver", j.noting("silver"), handlers.Label("tier", handlers.Equal("silver")))
		h := drive(t, c)
		h.Apply(small)
		h.Advance(wait)
		h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"tier": "silver"}) })
		h.Advance(0)
		assert.Equal(t, []string{"silver create"}, j.taken(), wait)
	}
}

func faultUnreadable(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "create", j.noting("create"))
	h := drive(t, c)
	h.Apply(strings.Replace(small, "metadata: {", "metadata: {annotations: {"+recordKey+": broken}, ", 1))
	h.RunUntilSettled()
	assert.Empty(t, j.taken())
	h.Edit("Claim small", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
	h.Advance(time.Hour)
	assert.Equal(t, []string{"create create"}, j.taken())
}

func faultWhenStatus(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Timer("tick", time.Minute, j.noting("tick"), handlers.When(func(c *Claim) bool { return c.Status.Volume != "" }))
	c.On(handlers.Create, "ready", j.noting("ready"), handlers.When(func(c *Claim) bool { return c.Status.Volume != "" }))
	h := reconciletest.Drive(t, c, reconciletest.Memory(dryrun.Objects(object(t, strict))))
	h.Apply(small)
	h.RunUntilSettled()
	h.SetStatus("Claim small", map[string]any{"volume": "v"})
	h.Advance(time.Hour)
	assert.NotEmpty(t, j.taken())
}

func faultOwnerAdded(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "owned", j.noting("owned"), handlers.When(func(c *Claim) bool { return len(c.OwnerReferences) > 0 }))
	c.Timer("timer", time.Minute, j.noting("timer"), handlers.When(func(c *Claim) bool { return len(c.OwnerReferences) > 0 }))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	h.Edit("Claim small", func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(obj.Object, []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"}}, "metadata", "ownerReferences")
	})
	h.Advance(time.Hour)
	assert.NotEmpty(t, j.taken())
}

func faultEngineTime(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create, "slow", func(ctx context.Context, _ *handlers.Request[Claim]) error {
		<-ctx.Done()
		return ctx.Err()
	}, handlers.MaxAttempts(1), handlers.Within(time.Hour))
	l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, io.Discard)
	l.start()
	l.create()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := l.process.Reconcile(ctx, request.Request{Key: l.ref()})
	require.NoError(t, err)
	obj, _ := l.cluster.Port().Get(t.Context(), l.ref())
	t.Log(obj.GetAnnotations())
	_ = j
	assert.Contains(t, obj.GetAnnotations()[recordKey], `"cycle"`, "it has 59 more minutes")
}

func faultStatelessRestart(t *testing.T) {
	var j journal
	with := false
	make := func() *handlers.Handlers[Claim] {
		c := handlers.New[Claim](claims, handlers.Stateless())
		c.On(handlers.Create, "create", j.noting("create"))
		c.On(handlers.Delete, "delete", j.noting("delete"), handlers.When(func(*Claim) bool { return with }))
		return c
	}
	h := drive(t, make())
	h.Apply(small)
	h.RunUntilSettled()
	assert.Equal(t, []string{"create create"}, j.taken())
	with = true
	h.Restart()
	require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Count: 1, Code: 403}))
	h.RunUntilSettled()
	assert.Empty(t, j.taken(), "finalizer")
}

func faultStatelessPaused(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims, handlers.Stateless())
	c.On(handlers.Create, "create", j.noting("create"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	j.taken()
	pause := func(v string) {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": v})
		})
		h.RunUntilSettled()
	}
	pause("true")
	h.Restart()
	h.RunUntilSettled()
	pause("false")
	assert.Empty(t, j.taken())
}

func faultEdited(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "all", j.noting("all"))
	h := drive(t, c)
	h.Apply(small)
	require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: claims, Count: 1, Code: 403}))
	_, err := h.Reconcile("Claim small")
	require.Error(t, err)
	edit(h, "size", int64(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"all create", "all update, change .spec.size: 1 -> 2"}, j.taken())
}

func faultPanic(t *testing.T) {
	var j journal
	panics := false
	c := handlers.New[Claim](claims)
	breaks := handlers.When(func(*Claim) bool {
		if panics {
			panic("broken")
		}
		return true
	})
	c.On(handlers.Update, "other", j.noting("other"))
	c.On(handlers.Update|handlers.Delete, "breaks", j.noting("breaks"), breaks)
	c.Timer("tick", time.Hour, j.noting("tick"), breaks, handlers.InitialDelay(time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	panics = true
	edit(h, "size", int64(2))
	h.Advance(10 * time.Minute)
	h.Delete("Claim small")
	h.Advance(10 * time.Minute)
	h.Exists("Claim small")
	assert.Equal(t, []string{"other update, change .spec.size: 1 -> 2"}, j.taken())
	panics = false
	h.Advance(time.Minute)
	assert.Equal(t, []string{"breaks delete"}, j.taken())
	h.Gone("Claim small")
}
