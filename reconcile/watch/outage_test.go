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

// However long the cluster hasn't answered, all are tried again soon after it does, and only one often before.
func TestEndOfAnOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, "all that failed come soon after its end", func(w *world) {
		const all = 50
		var down atomic.Bool
		down.Store(true)
		w.do = func(context.Context, request.Request) (request.Result, error) {
			if down.Load() {
				return request.Result{}, &deploy.UnavailableError{Err: fmt.Errorf("connection refused")}
			}
			return request.Result{}, nil
		}
		for i := range all {
			w.create(widget(fmt.Sprint("w", i)))
		}
		w.start()
		w.pass(time.Hour)
		w.taken()
		w.pass(time.Hour)
		tries, often := map[string]int{}, 0
		for _, key := range w.taken() {
			tries[key]++
		}
		for _, n := range tries {
			if n > 1000 {
				often++
				assert.InDelta(w.t, 1800, n, 200)
			}
		}
		assert.Equal(w.t, 1, often, "one is tried often, the others aren't")
		down.Store(false)
		w.pass(2 * probeEvery)
		reached := map[string]bool{}
		for _, key := range w.taken() {
			reached[key] = true
		}
		assert.Len(w.t, reached, all)
		assert.Equal(w.t, 1, w.logs.Count("the cluster answers again"))
		w.pass(time.Hour)
		assert.Empty(w.t, w.taken(), "once")
	})
}
