package watch

import (
	"math"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason       string
		first, limit time.Duration
		want         []time.Duration
	}{
		{"reconcile mistake 12: it doubles up to its cap", time.Second, 5 * time.Second, []time.Duration{1e9, 2e9, 4e9, 5e9, 5e9}},
		{"a cap that is a power", time.Second, 4 * time.Second, []time.Duration{1e9, 2e9, 4e9, 4e9}},
		{"no growth", time.Second, time.Second, []time.Duration{1e9, 1e9}},
		{"the smallest", 1, 2, []time.Duration{1, 2, 2}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBackoff(row.first, row.limit)
			for i, want := range row.want {
				assert.Equal(t, i, b.failures(key("a")))
				delay := b.next(key("a"))
				assert.LessOrEqual(t, delay, want)
				assert.GreaterOrEqual(t, delay, want-want/10, "less a tenth at most")
			}
			assert.Zero(t, b.failures(key("b")), "each object has its own")
			b.reset(key("a"))
			assert.LessOrEqual(t, b.next(key("a")), row.first, "it starts anew")
			b.reset(key("a"))
			assert.Empty(t, b.counts, "and keeps nothing")
		})
	}
	t.Run("no number of failures overflows", func(t *testing.T) {
		t.Parallel()
		for _, limit := range []time.Duration{time.Hour, 100 * time.Hour, math.MaxInt64} {
			b := newBackoff(time.Hour, limit)
			previous := time.Duration(0)
			for range 200 {
				delay := b.next(deploy.Ref{})
				assert.GreaterOrEqual(t, delay, min(previous, limit)/10*8)
				assert.LessOrEqual(t, delay, limit)
				previous = delay
			}
		}
	})
	t.Run("reconcile mistake 12: objects that failed together don't come back together", func(t *testing.T) {
		t.Parallel()
		b := newBackoff(time.Second, time.Second)
		different := map[time.Duration]bool{}
		for range 100 {
			different[b.next(key("a"))] = true
		}
		assert.Greater(t, len(different), 50)
	})
}
