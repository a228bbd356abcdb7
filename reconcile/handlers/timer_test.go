package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// timing returns a handler that writes the seconds since the beginning into the journal.
func (j *journal) timing(id string, now func() time.Time, errs ...error) handlers.Func[Claim] {
	begun := time.Time{}
	return func(context.Context, *handlers.Request[Claim]) error {
		if begun.IsZero() {
			begun = now().Truncate(time.Minute)
		}
		j.write("%s %.0f", id, now().Sub(begun).Seconds())
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

func TestTimers(t *testing.T) {
	t.Run("handlers 80: by interval, without a write", testInterval)
	t.Run("handlers 80: not while the object is deleted or doesn't match", testTimerFilters)
	t.Run("handlers 109: one that applies repairs what others have changed", testRepair)
	t.Run("handlers 81: idle is reset by changes of others only", testIdle)
	inBubble(t, "handlers 105: what a daemon changes doesn't reset the idle time either", func(d *daemonic, c *handlers.Handlers[Claim]) {
		c.Timer("idle", 0, func(context.Context, *handlers.Request[Claim]) error { d.write("idle"); return nil }, handlers.Idle(time.Hour))
		c.Daemon("measure", func(ctx context.Context, r *handlers.Request[Claim]) error {
			for n := 1; r.Sleep(ctx, 10*time.Minute); n++ {
				size := r.Latest().Spec.Size + 1
				r.Update(func(c *Claim) { c.Spec.Size, c.Spec.Mode = size, fmt.Sprint("seen ", n) })
				if err := r.Flush(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}, func(d *daemonic) {
		assert.Empty(d.t, d.after(59*time.Minute))
		assert.Equal(d.t, "seen 5", d.Get("Claim small").Object["spec"].(map[string]any)["mode"])
		assert.Equal(d.t, []string{"idle"}, d.after(time.Minute))
		assert.Empty(d.t, d.after(35*time.Minute), "once after each change of others")
		edit(d.Harness, "size", int64(100))
		assert.Empty(d.t, d.after(59*time.Minute))
		assert.Equal(d.t, []string{"idle"}, d.after(time.Minute))
	})
	t.Run("handlers 105: a field of the status that is part of the essence", testIdleStatus)
	t.Run("handlers 82: errors", testTimerErrors)
	t.Run("handlers 83: a cron goes on where it was before a restart", testCron)
	t.Run("handlers 84: many objects need no goroutines", testManyTimers)
}

func testInterval(t *testing.T) {
	var j journal
	var h *reconciletest.Harness
	c := handlers.New[Claim](claims)
	c.Timer("tick", 10*time.Second, j.timing("tick", func() time.Time { return h.Now() }))
	c.Timer("once", 0, j.noting("once"))
	c.Timer("late", time.Minute, j.noting("late"), handlers.InitialDelay(25*time.Second))
	h = drive(t, c)
	h.Apply(small)
	h.Advance(0)
	assert.Len(t, j.taken(), 2)
	h.Advance(30 * time.Second)
	assert.Len(t, j.taken(), 4, "three ticks, and the late one")
	h.Writes(0)
	h.Restart()
	h.Advance(0)
	assert.Len(t, j.taken(), 2, "a restart begins anew")
}

func testRepair(t *testing.T) {
	apply := func(ctx context.Context, r *handlers.Request[Claim]) error {
		return r.Apply(ctx, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Object.Name}, "data": map[string]any{"a": "b"},
		})
	}
	c := handlers.New[Claim](claims)
	c.On(handlers.Create|handlers.Update, "apply", apply)
	c.Timer("repair", 10*time.Minute, apply)
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	h.Created("ConfigMap small")
	h.Advance(time.Hour)
	h.Writes(0)
	h.Edit("ConfigMap small", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"a": "c"} })
	h.Advance(10 * time.Minute)
	h.Writes(1)
	assert.Equal(t, map[string]any{"a": "b"}, h.Get("ConfigMap small").Object["data"])
	h.Delete("ConfigMap small")
	h.Advance(10 * time.Minute)
	h.Created("ConfigMap small")
}

func testTimerFilters(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Timer("small", time.Minute, j.noting("small"), handlers.When(func(c *Claim) bool { return c.Spec.Size < 2 }))
	c.On(handlers.Delete, "delete", j.noting("delete", errors.New("not yet")), handlers.Backoff(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(2 * time.Minute)
	assert.Len(t, j.taken(), 3)
	edit(h, "size", int64(2))
	h.Advance(time.Hour)
	assert.Empty(t, j.taken())
	edit(h, "size", int64(1))
	h.Advance(0)
	assert.Len(t, j.taken(), 1)
	h.Delete("Claim small")
	h.Advance(30 * time.Minute)
	assert.Equal(t, []string{"delete delete"}, j.taken())
}

func testIdle(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Timer("idle", time.Hour, func(_ context.Context, r *handlers.Request[Claim]) error {
		j.write("idle")
		r.Update(func(c *Claim) { c.Spec.Mode, c.Status.Volume = "seen", "v" })
		return nil
	}, handlers.Idle(time.Minute))
	c.Timer("each", 0, j.noting("each"), handlers.Idle(2*time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(59 * time.Second)
	assert.Empty(t, j.taken())
	h.Advance(time.Second)
	assert.Equal(t, []string{"idle"}, j.taken())
	h.Advance(time.Minute)
	assert.Equal(t, []string{"each "}, j.taken(), "an own change doesn't count")
	edit(h, "size", int64(3))
	h.SetStatus("Claim small", map[string]any{"volume": "w"})
	h.Advance(2 * time.Minute)
	assert.Equal(t, []string{"each "}, j.taken(), "once after each change of others")
	h.Advance(time.Hour)
	assert.Equal(t, []string{"idle"}, j.taken())
}

func testIdleStatus(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	c.Field("status.volume", "volume", j.noting("volume"))
	c.Timer("tick", 10*time.Minute, func(_ context.Context, r *handlers.Request[Claim]) error {
		volume := r.Object.Status.Volume + "v"
		r.Update(func(c *Claim) { c.Status.Volume = volume })
		return nil
	})
	c.Timer("idle", 0, j.noting("idle"), handlers.Idle(time.Hour))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(59 * time.Minute)
	assert.Len(t, j.taken(), 5, "the field changes with each tick")
	h.Advance(time.Minute)
	assert.Contains(t, j.taken(), "idle ")
	h.SetStatus("Claim small", map[string]any{"volume": "of others"})
	h.Advance(59 * time.Minute)
	assert.NotContains(t, j.taken(), "idle ")
	h.Advance(time.Minute)
	assert.Contains(t, j.taken(), "idle ")
}

func testTimerErrors(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims)
	boom := errors.New("boom")
	c.Timer("retries", time.Hour, j.noting("retries", boom, request.RetryAfter(20*time.Second, boom)), handlers.Backoff(10*time.Second))
	c.Timer("stops", time.Minute, j.noting("stops", request.Permanent(boom)), handlers.Reports("Stops"))
	c.Timer("gives-up", time.Hour, j.noting("gives-up", boom, boom, boom, boom), handlers.MaxAttempts(2), handlers.Backoff(time.Minute))
	h := drive(t, c)
	h.Apply(small)
	h.Advance(0)
	assert.Equal(t, []string{"retries ", "stops ", "gives-up "}, j.taken())
	assert.Equal(t, "boom", h.Condition("Claim small", "Stops").Message)
	h.Advance(10 * time.Second)
	assert.Equal(t, []string{"retries "}, j.taken())
	h.Advance(20 * time.Second)
	assert.Equal(t, []string{"retries "}, j.taken())
	h.Advance(30 * time.Second)
	assert.Equal(t, []string{"gives-up "}, j.taken(), "for this time")
	h.Advance(time.Hour)
	assert.Equal(t, []string{"retries ", "gives-up "}, j.taken())
}

func testCron(t *testing.T) {
	var j journal
	var h *reconciletest.Harness
	c := handlers.New[Claim](claims)
	c.Cron("nightly", "0 3 * * *", func(context.Context, *handlers.Request[Claim]) error {
		j.write("%s", h.Now().UTC().Format("15:04"))
		return nil
	})
	h = drive(t, c)
	h.Apply(small)
	h.Advance(48 * time.Hour)
	assert.Equal(t, []string{"03:00", "03:00"}, j.taken())
	h.Writes(2)
	h.Restart()
	h.Advance(0)
	assert.Empty(t, j.taken(), "the last call is stored")
	h.Writes(0)
	h.Advance(24 * time.Hour)
	assert.Equal(t, []string{"03:00"}, j.taken())
}

// testManyTimers runs an engine over 10 000 objects in simulated time.
func testManyTimers(t *testing.T) {
	const objects, minutes = 10_000, 3
	synctest.Test(t, func(t *testing.T) {
		var calls, inexact atomic.Int64
		begun := time.Now()
		c := handlers.New[Claim](claims)
		exact := func(context.Context, *handlers.Request[Claim]) error {
			calls.Add(1)
			if time.Since(begun)%(30*time.Second) != 0 {
				inexact.Add(1)
			}
			return nil
		}
		c.Timer("one", time.Minute, exact)
		c.Timer("two", 30*time.Second, exact, handlers.Sharp())
		all := make([]*unstructured.Unstructured, objects)
		for i := range all {
			all[i] = object(t, small)
			all[i].SetName(fmt.Sprintf("claim-%d", i))
			all[i].SetNamespace("default")
		}
		cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(all...))
		require.NoError(t, err)
		manager, err := deploy.NewManager(cluster)
		require.NoError(t, err)
		reconciler, err := c.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		require.NoError(t, err)
		engine, err := watch.New(manager.View(), watch.Logger(slog.New(slog.DiscardHandler)), watch.Workers(4))
		require.NoError(t, err)
		require.NoError(t, engine.Control(claims, reconciler))
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { assert.NoError(t, engine.Run(ctx)) })
		time.Sleep(time.Second)
		before := runtime.NumGoroutine()
		assert.EqualValues(t, 2*objects, calls.Load(), "each is called when its object is first seen")
		time.Sleep(minutes * time.Minute)
		assert.EqualValues(t, 2*objects+3*objects*minutes, calls.Load())
		assert.Zero(t, inexact.Load())
		assert.LessOrEqual(t, runtime.NumGoroutine(), before, "timers run on the workers")
		cancel()
		ended.Wait()
		cluster.Wait()
	})
}

func TestTimerMistakes(t *testing.T) {
	t.Run("handlers 33: those of timers and crons", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		ok := func(context.Context, *handlers.Request[Claim]) error { return nil }
		c.Timer("negative", -time.Second, ok, handlers.Idle(-1))
		c.Timer("once", 0, ok, handlers.Sharp(), handlers.Zone("UTC"))
		c.Cron("never", "0 3 31 2 *", ok, handlers.InitialDelay(time.Second))
		c.Cron("nowhere", "0 3 * * *", ok, handlers.Zone("Nowhere"))
		_, err := c.Reconciler(t.Context(), newEnv(t))
		for _, text := range []string{
			`handler "negative": timer: the interval is -1s`, "the idle time is -1ns", "a sharp timer has no interval", "zone: only for handlers of Cron",
			`the expression "0 3 31 2 *" has no moment`, "initial delay: only for handlers of Timer", "the time zone can't be loaded",
		} {
			assert.ErrorContains(t, err, text)
		}
	})
}
