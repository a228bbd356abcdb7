package daemon

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/stretchr/testify/assert"
)

// How long the end takes.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		// late is how long the daemon goes on after its stop.
		grace, late time.Duration
		engine      time.Duration
		end         func(w *world)
		want        time.Duration
		abandoned   int
	}{
		{"handlers 57: who returns in time is waited for", 10 * time.Second, 2 * time.Second, 20 * time.Second, exit, 2 * time.Second, 0},
		{"handlers 57: at most for the grace", 10 * time.Second, time.Minute, 20 * time.Second, exit, 10 * time.Second, 1},
		{"handlers 57: at most for the grace of the engine", time.Hour, time.Minute, 20 * time.Second, exit, 20 * time.Second, 1},
		{"handlers 57: a moment, if the engine has none", time.Hour, time.Minute, 0, exit, time.Second, 1},
		{"handlers 57: who returns at once isn't abandoned then", time.Hour, 0, 0, exit, 0, 0},
		{"handlers 57: not longer than the rest of its grace", 10 * time.Second, time.Minute, 20 * time.Second, func(w *world) {
			for ref := range w.objects {
				w.Stop(ref, Paused)
			}
			time.Sleep(8 * time.Second)
			exit(w)
		}, 10 * time.Second, 1},
		{"handlers 58: after a loss of the leadership five seconds at most", time.Hour, time.Minute, 20 * time.Second, lose, 5 * time.Second, 1},
		{"handlers 58: who returns sooner is waited for", time.Hour, 2 * time.Second, 20 * time.Second, lose, 2 * time.Second, 0},
		{"handlers 58: also when the leadership is lost at the end", time.Hour, time.Minute, 20 * time.Second, func(w *world) {
			exit(w)
			time.Sleep(3 * time.Second)
			lose(w)
		}, 8 * time.Second, 1},
		{"handlers 58: which doesn't make it longer", time.Hour, time.Minute, 20 * time.Second, func(w *world) {
			exit(w)
			time.Sleep(18 * time.Second)
			lose(w)
		}, 20 * time.Second, 1},
		{"handlers 58: the cause alone shows a loss, too", time.Hour, time.Minute, 20 * time.Second, func(w *world) { w.end(leader.ErrLost) }, 5 * time.Second, 1},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.run(row.engine)
				var c calls
				for i := range 100 {
					one := key
					one.Name = fmt.Sprint(i)
					spec := c.spec(row.late)
					spec.Grace = row.grace
					w.Keep(one, "1", &claim{}, []Spec[claim]{spec})
				}
				w.keep(func() Spec[claim] { s := c.spec(row.late); s.Grace = row.grace; return s }())
				began := time.Now()
				row.end(w)
				<-w.ended
				assert.Equal(t, row.want, time.Since(began))
				assert.Equal(t, Count{Abandoned: row.abandoned * 101}, w.Count())
				assert.Len(t, w.told(), 101)
				w.keep(c.spec(0))
				n, _ := c.state()
				assert.Equal(t, 101, n, "handlers 57: nothing is started after the end")
				time.Sleep(time.Hour)
				w.end(nil)
				assert.Zero(t, w.Count())
				assert.Empty(t, w.objects)
			})
		})
	}
}

func exit(w *world) { w.end(context.Canceled) }
func lose(w *world) { close(w.lost) }

func TestBegin(t *testing.T) {
	t.Parallel()
	t.Run("handlers 50: a daemon waits until the source of its kind runs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var c calls
			other := deploy.Ref{Kind: key.Kind, Name: "gone"}
			w.keep(c.spec(0))
			w.Keep(other, "2", &claim{}, []Spec[claim]{c.spec(0)})
			w.Forget(other)
			n, _ := c.state()
			assert.Zero(t, n)
			assert.Zero(t, w.bringsOf())
			w.run(time.Second)
			assert.Equal(t, 1, w.bringsOf(), "then its object is reconciled")
			assert.Equal(t, Running, phase(w.keep(c.spec(0))))
			assert.Zero(t, w.stops(context.Canceled))
			w.run(time.Second)
			assert.Equal(t, Running, phase(w.keep(c.spec(0))), "the kind was released and is reconciled again")
			assert.Zero(t, w.stops(context.Canceled))
		})
	})
	t.Run("handlers 53: one that was abandoned when the kind was released isn't joined by another one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var c calls
			w.run(20 * time.Second)
			w.keep(c.spec(time.Minute))
			assert.Equal(t, 5*time.Second, w.stops(context.Canceled))
			w.run(20 * time.Second)
			assert.Equal(t, Left, phase(w.keep(c.spec(0))))
			time.Sleep(54 * time.Second)
			assert.Zero(t, w.bringsOf())
			time.Sleep(time.Second)
			assert.Equal(t, 1, w.bringsOf())
			assert.Equal(t, Running, phase(w.keep(c.spec(0))))
			assert.Equal(t, Count{Running: 1}, w.Count())
			assert.Zero(t, w.stops(context.Canceled))
		})
	})
}

func TestRenew(t *testing.T) {
	t.Parallel()
	t.Run("handlers 53: a reconciler that is made anew waits for daemons that the one before has abandoned", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var c calls
			w.run(20 * time.Second)
			once := Spec[claim]{ID: "once", Run: func(context.Context, Handle[claim]) error { return nil }}
			w.keep(c.spec(time.Minute), once)
			assert.NotSame(t, w.Keeper, w.Renew(nil), "one that runs is left alone")
			w.stops(context.Canceled)
			w.told()
			var reports []What
			assert.Same(t, w.Keeper, w.Renew(func(r Report[claim]) { reports = append(reports, r.What) }))
			assert.Equal(t, Count{Abandoned: 1}, w.Count())
			w.run(20 * time.Second)
			now := w.keep(c.spec(0), once)
			assert.Equal(t, []Phase{Left, Running}, []Phase{now[0].Phase, now[1].Phase}, "and knows nothing else")
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, []What{Ended, Returned}, reports)
			assert.Empty(t, w.told())
			assert.Equal(t, Running, phase(w.keep(c.spec(0))))
			assert.Zero(t, w.stops(context.Canceled))
		})
	})
}
