package watch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
)

// inTurn answers the calls with results and errors in turn, the last one for ever.
func inTurn(answers ...any) func(context.Context, request.Request) (request.Result, error) {
	calls := 0
	return func(context.Context, request.Request) (request.Result, error) {
		answer := answers[min(calls, len(answers)-1)]
		calls++
		switch a := answer.(type) {
		case error:
			return request.Result{}, a
		case request.Result:
			return a, nil
		}
		panic(answer)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	weird := errors.New("weird")
	done := request.Result{}
	for _, row := range []struct {
		reason  string
		answers []any
		// gaps are the times between the reconciles of a day, at most and less a tenth.
		gaps     []time.Duration
		attempts []int
	}{
		{"a success is left alone", []any{done}, nil, []int{0}},
		{"reconcile mistake 12: a failure is tried again, later and later", []any{weird, weird, weird, weird, done},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second}, []int{0, 1, 2, 3, 4}},
		{"reconcile mistake 12: after a success it starts anew", []any{weird, weird, request.Result{RequeueAfter: time.Hour}, weird, done},
			[]time.Duration{time.Second, 2 * time.Second, time.Hour, time.Second}, []int{0, 1, 2, 0, 1}},
		{"one that got further than those before it isn't stuck", []any{weird, weird, &request.Error{Advanced: true, Err: weird}, weird, done},
			[]time.Duration{time.Second, 2 * time.Second, time.Second, 2 * time.Second}, []int{0, 1, 2, 1, 2}},
		{"one that says when is tried again then", []any{request.RetryAfter(time.Hour, weird), weird, done},
			[]time.Duration{time.Hour, 2 * time.Second}, []int{0, 1, 2}},
		{"one that says nothing of use is left to the backoff", []any{request.RetryAfter(-time.Hour, weird), request.RetryAfter(0, weird), done},
			[]time.Duration{time.Second, 2 * time.Second}, []int{0, 1, 2}},
		{"a permanent one isn't tried again", []any{request.Permanent(weird)}, nil, []int{0}},
		{"joined ones are tried again for those that may heal", []any{errors.Join(request.Permanent(weird), weird), done}, []time.Duration{time.Second}, []int{0, 1}},
		{"watch 13: a success may ask for another time", []any{request.Result{RequeueAfter: 10 * time.Minute}, request.Result{RequeueAfter: time.Hour}, done},
			[]time.Duration{10 * time.Minute, time.Hour}, []int{0, 0, 0}},
		{"watch 13: and a time that isn't positive is none", []any{request.Result{RequeueAfter: -time.Second}}, nil, []int{0}},
		{"watch mistake 15: a panic is that object's failure", []any{"boom", "boom", done}, []time.Duration{time.Second, 2 * time.Second}, []int{0, 1, 2}},
	} {
		inBubble(t, row.reason, func(w *world) {
			w.do = inTurn(row.answers...)
			w.create(widget("a"))
			w.start(Backoff(time.Second, 5*time.Second))
			w.pass(24 * time.Hour)
			attempts, gaps := w.attempts()
			assert.Equal(w.t, row.attempts, attempts)
			assert.Len(w.t, gaps, len(row.gaps))
			for i, gap := range gaps {
				assert.LessOrEqual(w.t, gap, row.gaps[i])
				assert.GreaterOrEqual(w.t, gap, row.gaps[i]-row.gaps[i]/10)
			}
		})
	}
}

func TestRetriesAndEvents(t *testing.T) {
	t.Parallel()
	weird := errors.New("weird")
	inBubble(t, "reconcile mistake 12: a new spec starts anew, at once", func(w *world) {
		w.do = inTurn(weird)
		obj := widget("a")
		w.create(obj)
		w.start(Backoff(time.Hour, 24*time.Hour))
		w.pass(4 * time.Hour)
		w.taken()
		w.merge(obj, `{"spec":{"size":2}}`)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
		attempts, _ := w.attempts()
		assert.Equal(w.t, []int{0, 1, 2, 0}, attempts)
	})
	inBubble(t, "any other event is at once too, but no new start", func(w *world) {
		w.do = inTurn(weird)
		obj := widget("a")
		w.create(obj)
		w.start(Backoff(time.Hour, 24*time.Hour))
		w.merge(obj, `{"metadata":{"labels":{"a":"b"}}}`)
		w.settle()
		attempts, _ := w.attempts()
		assert.Equal(w.t, []int{0, 1}, attempts)
	})
	inBubble(t, "a permanent failure waits for a change, and starts anew then", func(w *world) {
		w.do = inTurn(weird, request.Permanent(weird), request.Result{})
		obj := widget("a")
		w.create(obj)
		w.start()
		w.pass(24 * time.Hour)
		assert.Equal(w.t, 1, w.logs.Count("waiting for a change"))
		assert.Len(w.t, w.taken(), 2)
		w.merge(obj, `{"metadata":{"labels":{"a":"b"}}}`)
		assert.Len(w.t, w.settle(), 1)
		attempts, _ := w.attempts()
		assert.Equal(w.t, []int{0, 1, 0}, attempts)
	})
	inBubble(t, "watch mistake 2: an object that is gone leaves nothing behind", func(w *world) {
		w.do = inTurn(weird, weird, request.Result{})
		obj := widget("a")
		w.create(obj)
		engine := w.start()
		w.delete(obj)
		w.pass(time.Hour)
		assert.Empty(w.t, engine.of(widgets).backoff.counts)
		assert.Zero(w.t, engine.owners.Len())
	})
	inBubble(t, "watch 12: failures are logged with object, attempt and time", func(w *world) {
		w.do = inTurn(weird, request.Result{})
		w.create(widget("a"))
		w.start(Backoff(time.Second, time.Second))
		w.pass(time.Minute)
		assert.Regexp(w.t, `level=WARN msg="reconcile failed" object="Widget shop/a" error=weird attempt=1 retry_in=`, w.logs.String())
	})
}

func TestPanic(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 17, mistake 15: recovered, logged with its object and its stack, and no other object suffers", func(w *world) {
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			if req.Key.Name == "bad" {
				panic(errors.New("boom"))
			}
			return request.Result{}, nil
		}
		w.start(Workers(1), Backoff(time.Hour, time.Hour))
		w.create(widget("bad"))
		w.create(widget("good"))
		assert.Equal(w.t, []string{"Widget shop/bad", "Widget shop/good"}, w.settle())
		assert.Equal(w.t, 1, w.logs.Count(`msg="reconcile panicked" object="Widget shop/bad" at=retry_test.go:`))
		assert.Contains(w.t, w.logs.String(), "retry_test.go")
		assert.Equal(w.t, 1, w.logs.Count(`error="panic: boom (retry_test.go:`))
	})
	inBubble(t, "what it panicked with is its error", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			panic(request.Permanent(errors.New("boom")))
		}
		w.create(widget("a"))
		w.start()
		w.pass(time.Hour)
		assert.Len(w.t, w.taken(), 1)
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 15: a reconcile that takes too long is cancelled, and tried again", func(w *world) {
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			if req.Attempt > 0 {
				return request.Result{}, nil
			}
			<-ctx.Done()
			assert.ErrorIs(w.t, context.Cause(ctx), context.DeadlineExceeded)
			return request.Result{}, context.Cause(ctx)
		}
		w.create(widget("a"))
		w.start(Timeout(time.Minute), Backoff(time.Second, time.Second))
		w.pass(time.Hour)
		_, gaps := w.attempts()
		assert.Len(w.t, gaps, 1)
		assert.Equal(w.t, 1, w.logs.Count("the reconcile took longer than 1m0s: context deadline exceeded"))
	})
}

func TestOutageIsSaidOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 13: what keeps all objects from being reconciled is said once a minute, and its end", func(w *world) {
		down := &deploy.UnavailableError{Err: errors.New("connection refused")}
		var back atomic.Bool
		w.do = func(context.Context, request.Request) (request.Result, error) {
			if back.Load() {
				return request.Result{}, nil
			}
			return request.Result{}, fmt.Errorf("apply: %w", down)
		}
		for i := range 50 {
			w.create(widget(fmt.Sprint("w", i)))
		}
		w.start()
		assert.Equal(w.t, 1, w.logs.Count(`msg="reconcile failed"`))
		assert.Equal(w.t, 1, w.logs.Count("more_since_last_logged=0"))
		w.pass(59 * time.Second)
		assert.Equal(w.t, 1, w.logs.Count(`msg="reconcile failed"`))
		w.pass(31 * time.Second)
		assert.Equal(w.t, 2, w.logs.Count(`msg="reconcile failed"`), "it is still going on")
		assert.Greater(w.t, len(w.taken()), 200)
		back.Store(true)
		w.pass(time.Minute)
		assert.Equal(w.t, 1, w.logs.Count(`level=INFO msg="the cluster answers again"`))
		assert.Equal(w.t, 2, w.logs.Count(`msg="reconcile failed"`))
	})
	inBubble(t, "other failures are said of each object", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			return request.Result{}, errors.New("weird")
		}
		w.create(widget("a"))
		w.create(widget("b"))
		w.start()
		assert.Equal(w.t, 2, w.logs.Count(`msg="reconcile failed"`))
		assert.Zero(w.t, w.logs.Count("answers again"))
	})
}
