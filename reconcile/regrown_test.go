package reconcile

import (
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two installs of one operator, of which one renders an object that the other one prunes.
func TestRegrown(t *testing.T) {
	t.Parallel()
	t.Run("what another process makes again is pruned rarely", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		install := func(names []string, options ...Option) *Reconciler {
			return w.reconciler(adding(func(s *Session) {
				for _, name := range names {
					s.Add(name, configMap(name))
				}
			}), options...)
		}
		more, less := install([]string{"a", "b"}), install([]string{"a"}, Events(o))
		deletions := func(rounds int) (count int) { // of two seconds each
			for range rounds {
				_, _, _ = w.once(more)
				calls, _, _ := w.once(less)
				if slices.Contains(calls, "delete ConfigMap shop/b") {
					count++
				}
			}
			return count
		}
		assert.Equal(t, 3, deletions(20))
		_, _, err := w.once(less)
		require.ErrorContains(t, err, `ConfigMap shop/b: another process applies this object as the same field manager "operkit"`)
		after, timed := request.RetryTime(err)
		assert.True(t, timed && after > 0 && after <= time.Minute, "it comes back by itself in %s", after)
		assert.Equal(t, 1, less.Tally().Contested)
		assert.LessOrEqual(t, deletions(150), 6, "in five minutes")
		warnings := slices.DeleteFunc(o.texts(), func(text string) bool { return text[:len("Warning")] != "Warning" })
		require.Len(t, warnings, 1, "it is said once")
		assert.Contains(t, warnings[0], "Warning Contested: ")

		// The other one ends.
		w.clock.advance(time.Minute)
		calls, _, err := w.once(less)
		assert.Contains(t, calls, "delete ConfigMap shop/b")
		require.ErrorContains(t, err, "another process")
		w.clock.advance(2 * time.Minute)
		_, _, err = w.once(less)
		require.NoError(t, err)
		assert.Empty(t, w.calm(less))
	})
	t.Run("what one's own process makes again is pruned at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		names := []string{"a"}
		r := w.reconciler(adding(func(s *Session) {
			for _, name := range names {
				s.Add(name, configMap(name))
			}
		}))
		for range 10 {
			names = []string{"a", "b"}
			w.calm(r)
			names = []string{"a"}
			assert.Contains(t, w.calm(r), "delete ConfigMap shop/b")
		}
	})
}
