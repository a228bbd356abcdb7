package watch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
)

func TestPeriod(t *testing.T) {
	t.Parallel()
	weird := errors.New("weird")
	done := request.Result{}
	for _, row := range []struct {
		reason  string
		period  time.Duration
		answers []any
		// gaps are the first times between reconciles, at most and less a tenth.
		gaps []time.Duration
		// all tells that there are no more in a day.
		all bool
	}{
		{"watch 13: none is the default: what happened to nobody brings nobody", 0, []any{done}, nil, true},
		{"watch 13: what nothing brings comes again with the period", time.Hour, []any{done}, []time.Duration{time.Hour, time.Hour, time.Hour}, false},
		{"watch 13: a result that asks for less counts", time.Hour, []any{request.Result{RequeueAfter: time.Minute}, done}, []time.Duration{time.Minute, time.Hour}, false},
		{"watch 13: one that asks for more doesn't", time.Hour, []any{request.Result{RequeueAfter: 5 * time.Hour}, done}, []time.Duration{time.Hour, time.Hour}, false},
		{"a failure is tried again by the backoff", time.Hour, []any{weird, weird, done}, []time.Duration{time.Second, 2 * time.Second, time.Hour}, false},
		{"a failure that would wait for longer doesn't", time.Hour, []any{request.RetryAfter(5*time.Hour, weird), done}, []time.Duration{time.Hour, time.Hour}, false},
		{"a permanent failure comes again too", time.Hour, []any{request.Permanent(weird), done}, []time.Duration{time.Hour, time.Hour}, false},
	} {
		inBubble(t, row.reason, func(w *world) {
			w.do = inTurn(row.answers...)
			w.create(widget("a"))
			w.start(Backoff(time.Second, time.Minute), Period(row.period))
			w.pass(24 * time.Hour)
			_, gaps := w.attempts()
			if assert.GreaterOrEqual(w.t, len(gaps), len(row.gaps)) && row.all {
				assert.Len(w.t, gaps, len(row.gaps))
			}
			for i, want := range row.gaps {
				assert.LessOrEqual(w.t, gaps[i], want)
				assert.GreaterOrEqual(w.t, gaps[i], want-want/10)
			}
		})
	}
}

func TestPeriodOfObjects(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 13: it is counted from the last reconcile, whatever brought that", func(w *world) {
		obj := w.create(widget("a"))
		w.start(Period(time.Hour))
		assert.Equal(w.t, []string{"listed"}, w.why())
		w.pass(50 * time.Minute)
		w.merge(obj, `{"spec":{"size":2}}`)
		assert.Equal(w.t, []string{"changed"}, w.why())
		w.pass(53 * time.Minute)
		assert.Empty(w.t, w.why())
		w.pass(7 * time.Minute)
		assert.Equal(w.t, []string{"periodic"}, w.why())
	})
	inBubble(t, "watch 13, mistake 2: what is gone comes no more", func(w *world) {
		obj := w.create(widget("a"))
		engine := w.start(Period(time.Hour))
		w.delete(obj)
		assert.Equal(w.t, []string{"listed", "deleted"}, w.why())
		w.pass(24 * time.Hour)
		assert.Empty(w.t, w.why())
		assert.Zero(w.t, engine.State().Timers)
	})
	inBubble(t, "watch 13: nor what went while it was reconciled, and whose end counts for nothing", func(w *world) {
		w.declare(source.Sources{When: filter.Created()})
		obj := w.create(widget("a"))
		w.do = func(context.Context, request.Request) (request.Result, error) {
			w.delete(obj)
			return request.Result{}, nil
		}
		engine := w.start(Period(time.Hour))
		w.pass(24 * time.Hour)
		assert.Equal(w.t, []string{"listed"}, w.why())
		assert.Zero(w.t, engine.State().Timers)
	})
	inBubble(t, "watch 13: nor what has left the view", func(w *world) {
		obj := w.create(widget("a"))
		engine := w.start(Period(time.Hour))
		w.leave(obj)
		w.pass(24 * time.Hour)
		assert.Equal(w.t, []string{"listed"}, w.why())
		assert.Zero(w.t, engine.State().Timers)
	})
	inBubble(t, "watch 13: nor a name that somebody brought of which there is no object", func(w *world) {
		engine := w.start(Period(time.Hour))
		engine.queue.Add(key("nobody"), request.External)
		w.pass(24 * time.Hour)
		assert.Equal(w.t, []string{"external"}, w.why())
		assert.Zero(w.t, engine.State().Timers)
	})
}
