package watch

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 9: one reconcile of an object at a time, several objects at once, never more than workers (10)", func(w *world) {
		const workers = 4
		var running [10]atomic.Int32
		var all, most atomic.Int32
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			var number int
			_, err := fmt.Sscanf(req.Key.Name, "w%d", &number)
			assert.NoError(w.t, err)
			assert.Equal(w.t, int32(1), running[number].Add(1), "%s is reconciled twice at once", req.Key)
			now := all.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Second)
			all.Add(-1)
			running[number].Add(-1)
			return request.Result{}, nil
		}
		engine := w.start(Workers(workers))
		for range 20 {
			for number := range running {
				engine.observe(engine.of(widgets), deploy.Event{Type: deploy.Added, New: widget(fmt.Sprintf("w%d", number))}, false)
			}
			w.pass(100 * time.Millisecond)
		}
		w.pass(time.Minute)
		assert.Equal(w.t, int32(workers), most.Load())
	})
}

func TestWhatChangedMeanwhileComesFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, "what was edited while nobody was there comes before all that is as it was left", func(w *world) {
		for number := range 50 {
			w.mergeStatus(w.create(widget(fmt.Sprintf("w%d", number))), `{"status":{"observedGeneration":1}}`)
		}
		w.merge(widget("w7"), `{"spec":{"size":2},"metadata":{"generation":2}}`)
		var order []string
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			time.Sleep(time.Second)
			order = append(order, req.Key.Name)
			return request.Result{}, nil
		}
		w.start(Workers(1))
		w.pass(time.Minute)
		assert.Len(w.t, order, 50)
		assert.Contains(w.t, order[:2], "w7", "a worker may have begun with another one before it was listed")
	})
}

func TestPendingRunsOnceMore(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 9, 11, mistake 1: whatever comes while it runs makes one more run, with the latest state", func(w *world) {
		var sizes []int64
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			time.Sleep(time.Second)
			obj, err := w.view.Get(w.t.Context(), req.Key)
			assert.NoError(w.t, err)
			sizes = append(sizes, obj.Object["spec"].(map[string]any)["size"].(int64))
			return request.Result{}, nil
		}
		obj := widget("a")
		w.create(obj)
		w.start()
		for size := range 10 {
			w.merge(obj, fmt.Sprintf(`{"spec":{"size":%d}}`, size+10))
			w.pass(20 * time.Millisecond)
		}
		w.pass(time.Minute)
		assert.Equal(w.t, []int64{19, 19}, sizes)
	})
	inBubble(t, "watch mistake 14: an object that is busy holds up no other", func(w *world) {
		release := make(chan struct{})
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			if req.Key.Name == "busy" {
				<-release
			}
			return request.Result{}, nil
		}
		w.create(widget("busy"))
		w.start(Workers(2))
		w.taken()
		for number := range 5 {
			w.create(widget(fmt.Sprint("w", number)))
		}
		assert.Len(w.t, w.settle(), 5)
		close(release)
	})
}
