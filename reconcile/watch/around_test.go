package watch

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noting tells what passes through it.
type noting struct {
	Reconciler
	note func(step string)
}

func (n noting) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	n.note("begin " + req.Waited.String())
	end := "panic"
	defer func() { n.note(end) }()
	result, err := n.Reconciler.Reconcile(ctx, req)
	end = "end"
	if err != nil {
		end = err.Error()
	}
	return result, err
}

func TestAround(t *testing.T) {
	t.Parallel()
	inBubble(t, "each reconcile goes through what is around it, and tells how long it waited for its turn", func(w *world) {
		var steps []string
		through := func(name string) Option {
			return Around(func(next Reconciler) Reconciler {
				return noting{next, func(step string) { steps = append(steps, name+" "+step) }}
			})
		}
		took := func() []string { defer func() { steps = nil }(); return steps }
		fails, panics := error(nil), false
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Second)
			if panics {
				panic("out of cheese")
			}
			return request.Result{}, fails
		}
		a := w.create(widget("a"))
		w.start(Workers(1), through("outer"), through("inner"))
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"outer begin 0s", "inner begin 0s", "inner end", "outer end"}, took())

		w.create(widget("b"))
		w.pass(100 * time.Millisecond)
		w.merge(a, `{"spec":{"size":2}}`)
		w.pass(time.Minute)
		assert.Equal(w.t, "outer begin 900ms", took()[4], "it waited while another one was reconciled")

		fails = request.Permanent(errors.New("no"))
		w.merge(a, `{"spec":{"size":3}}`)
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"outer begin 0s", "inner begin 0s", "inner no", "outer no"}, took())

		panics = true
		w.merge(a, `{"spec":{"size":4}}`)
		w.pass(1100 * time.Millisecond)
		assert.Equal(w.t, []string{"outer begin 0s", "inner begin 0s", "inner panic", "outer panic"}, took()[:4])
	})
	inBubble(t, "what a reconcile says of itself is in the engine's lines about it", func(w *world) {
		w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
			logging.Annotate(ctx, slog.String("trace", "abc"))
			return request.Result{}, errors.New("no")
		}
		w.create(widget("a"))
		w.start()
		w.pass(100 * time.Millisecond)
		assert.Regexp(w.t, `msg="reconcile failed" trace=abc object="Widget shop/a" error=no`, w.logs.String())
	})
	memory, err := dryrun.New()
	require.NoError(t, err)
	_, err = New(memory.View(), Around(nil))
	require.EqualError(t, err, "around: nil function")
}
