package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// All states, by the first reason that fits.
func TestOf(t *testing.T) {
	t.Parallel()
	t.Run("handlers 7: the first reason that fits, for all states", func(t *testing.T) {
		t.Parallel()
		for bits := range 64 {
			s := State{
				Gone: bits&1 != 0, Deleting: bits&2 != 0, Finalizer: bits&4 != 0, Handled: bits&8 != 0, Changed: bits&16 != 0, First: bits&32 != 0,
			}
			var want Reason
			for _, row := range []struct {
				reason Reason
				fits   bool
			}{
				{Gone, s.Gone}, {Free, s.Deleting && !s.Finalizer}, {Delete, s.Deleting && s.Finalizer}, {Create, !s.Handled},
				{Update, s.Changed}, {Resume, s.First}, {Noop, true},
			} {
				if row.fits {
					want = row.reason
					break
				}
			}
			assert.Equal(t, want, Of(s), "%+v", s)
		}
	})
}
