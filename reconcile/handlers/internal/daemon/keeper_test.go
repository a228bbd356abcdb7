package daemon

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestKeep(t *testing.T) {
	t.Parallel()
	inBubble(t, "handlers 50: it runs from the first pass on, once", func(w *world) {
		var a, b calls
		other := b.spec(0)
		other.ID = "expire"
		for range 3 {
			now := w.keep(a.spec(0), other)
			assert.Equal(w.t, Standing{{ID: "expire", Phase: Running}, {ID: "measure", Phase: Running}}, now)
			assert.True(w.t, now.Active())
		}
		n, alive := a.state()
		assert.Equal(w.t, []int{1, 1}, []int{n, alive})
		assert.Equal(w.t, Count{Running: 2}, w.Count())
		assert.Zero(w.t, w.bringsOf())
		w.keep(other)
		_, alive = a.state()
		assert.Zero(w.t, alive, "handlers 51: the one that doesn't match any more")
		_, alive = b.state()
		assert.Equal(w.t, 1, alive)
	})
	inBubble(t, "handlers 53: it is run again when the object matches again", func(w *world) {
		var c calls
		spec := c.spec(time.Second)
		w.keep(spec)
		for round, stop := range []func(){func() { w.keep() }, func() { w.Stop(key, Paused) }, func() { w.Stop(key, Standby) }, func() { w.Forget(key) }} {
			stop()
			assert.Equal(w.t, Stopping, phase(w.keep(spec)), "after it has returned")
			time.Sleep(time.Second)
			w.bringsOf()
			assert.Equal(w.t, Running, phase(w.keep(spec)))
			n, alive := c.state()
			assert.Equal(w.t, []int{round + 2, 1}, []int{n, alive})
		}
	})
	inBubble(t, "handlers 54: one that has returned nil isn't run again for its object", func(w *world) {
		var c calls
		spec := Spec[claim]{ID: "once", Run: c.do(func(context.Context) error { return nil })}
		w.keep(spec)
		told := w.told()
		require.Len(w.t, told, 1)
		assert.Equal(w.t, Ended, told[0].What)
		assert.Equal(w.t, 1, w.bringsOf())
		for range 3 {
			assert.Equal(w.t, Standing{{ID: "once", Phase: Done}}, w.keep(spec))
			w.keep()
			w.Stop(key, Paused)
		}
		n, _ := c.state()
		assert.Equal(w.t, 1, n)
		w.Keep(key, "2", &claim{}, []Spec[claim]{spec})
		n, _ = c.state()
		assert.Equal(w.t, 2, n, "another object of the name")
		w.Forget(key)
		assert.Empty(w.t, w.objects)
	})
	inBubble(t, "handlers 50: it sees the latest object", func(w *world) {
		seen := make(chan int)
		w.Keep(key, "1", &claim{1}, []Spec[claim]{{ID: "a", Run: func(ctx context.Context, h Handle[claim]) error {
			for trigger.Sleep(ctx, time.Second) {
				seen <- h.Latest().version
			}
			return nil
		}}})
		assert.Equal(w.t, 1, <-seen)
		w.Keep(key, "1", &claim{2}, []Spec[claim]{{ID: "a"}})
		assert.Equal(w.t, 2, <-seen)
		w.Keep(key, "2", &claim{3}, nil)
		assert.Equal(w.t, 2, w.told()[0].Object.version, "and no other one of its name")
	})
	inBubble(t, "handlers 50: the first run may be delayed", func(w *world) {
		var c calls
		spec := c.spec(0)
		spec.Delay = time.Minute
		now := w.keep(spec)
		due, waits := now.Due()
		assert.True(w.t, waits)
		assert.Equal(w.t, time.Minute, time.Until(due))
		assert.False(w.t, now.Active())
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Equal(w.t, Waiting, phase(w.keep(spec)))
		time.Sleep(time.Nanosecond)
		assert.Equal(w.t, Running, phase(w.keep(spec)))
		w.keep()
		assert.Equal(w.t, Waiting, phase(w.keep(spec)), "also after a stop")
		assert.Empty(w.t, w.keep())
	})
}

// What a pass costs for an object without daemons. Goroutines are counted, so no other test runs meanwhile.
func TestNothing(t *testing.T) {
	t.Run("handlers 50: an object without daemons costs nothing", func(t *testing.T) {
		k := New(func(Report[claim]) {})
		objects := make([]deploy.Ref, 10_000)
		for i := range objects {
			objects[i] = deploy.Ref{Kind: key.Kind, Name: fmt.Sprint(i)}
		}
		before := runtime.NumGoroutine()
		obj := &claim{}
		for _, ref := range objects {
			k.Keep(ref, types.UID(ref.Name), obj, nil)
			k.Stop(ref, Deleting)
			k.Forget(ref)
		}
		assert.Empty(t, k.objects)
		assert.Empty(t, k.early)
		assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
}

func TestContext(t *testing.T) {
	t.Parallel()
	inBubble(t, "handlers 51: the context of a daemon has the values of its source's and ends after the daemon", func(w *world) {
		var left context.Context
		w.keep(Spec[claim]{ID: "a", Run: func(ctx context.Context, _ Handle[claim]) error {
			left = ctx
			return nil
		}})
		synctest.Wait()
		term, ok := leader.TermOf(left)
		assert.True(w.t, ok)
		assert.NotNil(w.t, term.Lost)
		assert.ErrorIs(w.t, left.Err(), context.Canceled, "what it left running ends, too")
		w.Forget(key)
	})
}
