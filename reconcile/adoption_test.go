package reconcile

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The advice of the error works: the option makes an object ours that was there before.
func TestAdoption(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, widget(), theirs("a"))
	c := adding(func(s *Session) { s.Add("c", configMap("a")) })
	_, _, err := w.once(w.reconciler(c))
	require.ErrorContains(t, err, "allow its adoption by the option deploy.Adopt")
	assert.Empty(t, w.get(configMapRef("a")).GetOwnerReferences())

	r, err := New(c, must(deploy.NewManager(w, deploy.Adopt(deploy.AdoptUnowned))), Clock(w.clock.Now))
	require.NoError(t, err)
	w.calm(r)
	assert.Equal(t, "Stable/Stable", w.verdict())
	assert.Len(t, w.get(configMapRef("a")).GetOwnerReferences(), 1)
}
