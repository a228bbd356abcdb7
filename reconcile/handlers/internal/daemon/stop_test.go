package daemon

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each reason to stop, as the daemon, the report and the next pass see it.
func TestStops(t *testing.T) {
	t.Parallel()
	released := fmt.Errorf("%w: %w", source.ErrReleased, context.Canceled)
	for _, row := range []struct {
		why  Stop
		stop func(w *world)
		// ends: it is the end of Run.
		ends bool
	}{
		{why: Deleting, stop: func(w *world) { w.Stop(key, Deleting) }},
		{why: Paused, stop: func(w *world) { w.Stop(key, Paused) }},
		{why: Standby, stop: func(w *world) { w.Stop(key, Standby) }},
		{why: Mismatch, stop: func(w *world) { w.keep() }},
		{why: Gone, stop: func(w *world) { w.Forget(key) }},
		{why: Replaced, stop: func(w *world) { w.Keep(key, "2", &claim{}, nil) }},
		{why: Exiting, stop: func(w *world) { w.end(context.Canceled) }, ends: true},
		{why: Exiting, stop: func(w *world) { w.end(errors.New("another service has failed")) }, ends: true},
		{why: Standby, stop: func(w *world) { w.end(peering.ErrPaused) }, ends: true},
		{why: Released, stop: func(w *world) { w.end(released) }, ends: true},
		{why: Lost, stop: func(w *world) { w.end(fmt.Errorf("%w: another leads", leader.ErrLost)) }, ends: true},
		{why: Lost, stop: func(w *world) { close(w.lost) }, ends: true},
		{why: Lost, stop: func(w *world) { close(w.lost); w.end(nil) }, ends: true},
	} {
		inBubble(t, "handlers 51: "+row.why.Error(), func(w *world) {
			var c calls
			w.keep(c.spec(2 * time.Second))
			row.stop(w)
			_, alive := c.state()
			assert.Equal(w.t, 1, alive, "it ends in its own time")
			assert.Equal(w.t, Count{Stopping: 1}, w.Count())
			w.Stop(key, Paused)
			time.Sleep(2 * time.Second)
			_, alive = c.state()
			assert.Zero(w.t, alive)
			assert.Equal(w.t, []error{row.why}, c.causes, "one cause, the first")
			assert.ErrorIs(w.t, c.causes[0], context.Canceled, "which code that only knows contexts recognizes")
			assert.Equal(w.t, row.why == Lost, errors.Is(c.causes[0], leader.ErrLost))
			told := w.told()
			require.Len(w.t, told, 1)
			assert.Equal(w.t, Report[claim]{What: Stopped, Key: key, Object: told[0].Object, ID: "measure", Stop: row.why, After: 2 * time.Second}, told[0])
			if brings := w.bringsOf(); row.ends || row.why == Gone {
				assert.Zero(w.t, brings, "nobody reconciles it")
			} else {
				assert.Equal(w.t, 1, brings, "the next pass sees that it has ended")
			}
			assert.Empty(w.t, w.Keep(key, "1", &claim{}, nil))
		})
	}
	inBubble(t, "handlers 51: an error after the stop is reported", func(w *world) {
		w.keep(Spec[claim]{ID: "a", Run: func(ctx context.Context, _ Handle[claim]) error {
			<-ctx.Done()
			return errors.Join(ctx.Err(), errNo)
		}}, Spec[claim]{ID: "b", Run: func(ctx context.Context, _ Handle[claim]) error {
			<-ctx.Done()
			return errNo
		}})
		w.Stop(key, Paused)
		var errs []error
		for _, r := range w.told() {
			errs = append(errs, r.Err)
		}
		assert.ElementsMatch(w.t, []error{nil, errNo}, errs, "but not that its context has ended")
	})
}

func TestGrace(t *testing.T) {
	t.Parallel()
	inBubble(t, "handlers 52: who doesn't return within the grace is abandoned, once", func(w *world) {
		var c calls
		began := time.Now()
		w.keep(c.spec(time.Minute))
		now := w.Stop(key, Deleting)
		assert.True(w.t, now.Active(), "the finalizer waits")
		until, stopping := now.Until()
		assert.True(w.t, stopping)
		assert.Equal(w.t, began.Add(5*time.Second), until)
		time.Sleep(5*time.Second - time.Nanosecond)
		assert.True(w.t, w.Stop(key, Deleting).Active())
		assert.Empty(w.t, w.told())
		time.Sleep(time.Nanosecond)
		assert.Equal(w.t, 1, w.bringsOf())
		told := w.told()
		require.Len(w.t, told, 1)
		assert.Equal(w.t, []any{Abandoned, Deleting, 5 * time.Second}, []any{told[0].What, told[0].Stop, told[0].After})
		now = w.Stop(key, Deleting)
		assert.False(w.t, now.Active(), "the finalizer doesn't wait any more")
		assert.Equal(w.t, Left, phase(now))
		assert.Equal(w.t, Count{Abandoned: 1}, w.Count())
		time.Sleep(time.Hour)
		told = w.told()
		require.Len(w.t, told, 1)
		assert.Equal(w.t, []any{Returned, Deleting, time.Minute}, []any{told[0].What, told[0].Stop, told[0].After})
		assert.Zero(w.t, w.Count(), "handlers 52: one that returns late no longer counts")
	})
	inBubble(t, "handlers 52: each daemon has a grace of its own", func(w *world) {
		var a, b calls
		one, two := a.spec(time.Minute), b.spec(time.Minute)
		two.ID, two.Grace = "other", 0
		w.keep(one, two)
		now := w.Stop(key, Deleting)
		until, _ := now.Until()
		assert.Equal(w.t, DefaultGrace, time.Until(until), "the last one counts")
		time.Sleep(5 * time.Second)
		w.bringsOf()
		assert.Equal(w.t, Count{Stopping: 1, Abandoned: 1}, w.Count())
		time.Sleep(5 * time.Second)
		w.bringsOf()
		assert.Equal(w.t, Count{Abandoned: 2}, w.Count())
		time.Sleep(time.Minute)
	})
	inBubble(t, "handlers 53: an object that matches again waits for the one that was abandoned", func(w *world) {
		var c calls
		spec := c.spec(time.Minute)
		w.keep(spec)
		w.keep()
		time.Sleep(10 * time.Second)
		assert.Equal(w.t, Left, phase(w.keep(spec)))
		n, alive := c.state()
		assert.Equal(w.t, []int{1, 1}, []int{n, alive})
		time.Sleep(40 * time.Second)
		w.bringsOf()
		time.Sleep(10 * time.Second)
		assert.Equal(w.t, 1, w.bringsOf(), "it is reconciled when that has returned")
		assert.Equal(w.t, Running, phase(w.keep(spec)))
		n, alive = c.state()
		assert.Equal(w.t, []int{2, 1}, []int{n, alive})
	})
	inBubble(t, "handlers 53: so does another object of the same name", func(w *world) {
		var c calls
		spec := c.spec(time.Minute)
		w.keep(spec)
		w.Keep(key, "2", &claim{}, []Spec[claim]{spec})
		time.Sleep(30 * time.Second)
		assert.Equal(w.t, Left, phase(w.Keep(key, "2", &claim{}, []Spec[claim]{spec})))
		time.Sleep(30 * time.Second)
		w.bringsOf()
		assert.Equal(w.t, Running, phase(w.Keep(key, "2", &claim{}, []Spec[claim]{spec})))
		n, alive := c.state()
		assert.Equal(w.t, []int{2, 1}, []int{n, alive})
		time.Sleep(time.Second)
		w.Stop(key, Paused)
		time.Sleep(time.Minute)
	})
}
