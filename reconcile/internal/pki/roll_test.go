package pki

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var times = Times{Life: 10 * year, Leaf: year, Wait: time.Hour}

func TestRollStages(t *testing.T) {
	t.Parallel()
	old := Authority{Current: newCA(t, day(0))}
	advance := func(t *testing.T, a Authority, at time.Time, asked bool) (Authority, bool) {
		t.Helper()
		next, changed, err := a.Advance(at, "test", asked, times)
		require.NoError(t, err)
		stored, err := ParseAuthority(next.Data()) // a process knows only what is stored
		require.NoError(t, err)
		stored.Spread = next.Spread
		return stored, changed
	}
	due := old.Until(times)
	t.Run("tls 7: two thirds of its life are over", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, Due(old.Current.Cert), due)
		_, changed := advance(t, old, due.Add(-1), false)
		assert.False(t, changed)
		next, changed := advance(t, old, due, false)
		assert.True(t, changed)
		assert.Equal(t, Trusting, next.Stage())
	})
	t.Run("tls 7: earlier, if a leaf wouldn't fit into the rest of its life", func(t *testing.T) {
		t.Parallel()
		short := times
		short.Leaf = 5 * year
		assert.Equal(t, old.Current.Cert.NotAfter.Add(-5*year-2*time.Hour), old.Until(short))
		short.Leaf = 20 * year
		assert.Equal(t, due, old.Until(short), "it never fits")
	})
	t.Run("tls 7: the stages, each of which waits until its work is everywhere", func(t *testing.T) {
		t.Parallel()
		a, changed := advance(t, old, day(1), true)
		require.True(t, changed)
		assert.Equal(t, old.Current.CertPEM, a.Current.CertPEM, "the old CA issues")
		assert.Len(t, must(ParseCertificates(a.Bundle())), 2)
		assert.Equal(t, a.Latest(), a.Until(times))
		_, changed = advance(t, a, day(100), true)
		assert.False(t, changed, "not everywhere yet")

		next := a.Next
		a, changed = a.MarkSpread(day(2))
		require.True(t, changed)
		_, changed = a.MarkSpread(day(3))
		assert.False(t, changed, "the first time counts")
		assert.Equal(t, day(2).Add(time.Hour), a.Until(times))
		_, changed = advance(t, a, day(2).Add(time.Hour-1), true)
		assert.False(t, changed)
		a, changed = advance(t, a, day(2).Add(time.Hour), true)
		require.True(t, changed)
		assert.Equal(t, Reissuing, a.Stage())
		assert.Equal(t, next.CertPEM, a.Current.CertPEM, "the new CA issues")
		assert.Len(t, must(ParseCertificates(a.Bundle())), 2)
		for key, value := range a.Data() {
			assert.NotEqual(t, string(old.Current.KeyPEM), string(value), "the key of the old CA is gone: %s", key)
		}

		a, _ = a.MarkSpread(day(3))
		a, changed = advance(t, a, day(4), true)
		require.True(t, changed)
		assert.Equal(t, Steady, a.Stage())
		assert.Equal(t, Bundle(next), a.Bundle())
	})
	t.Run("tls 7: a CA that has expired is replaced without a wait", func(t *testing.T) {
		t.Parallel()
		expired := old.Current.Cert.NotAfter
		a, _ := advance(t, old, expired, false)
		a, changed := advance(t, a, expired, false)
		assert.True(t, changed)
		assert.Equal(t, Reissuing, a.Stage())
	})
	t.Run("tls 35: a stage whose time Spread doesn't come ends nevertheless, when a longer wait gains nothing", func(t *testing.T) {
		t.Parallel()
		began := due.Truncate(time.Second)
		a, _ := advance(t, old, began, false)
		assert.Equal(t, began.Add(old.Current.Cert.NotAfter.Sub(began)/3*2), a.Latest(), "a third of the rest of its life is left")
		_, changed := advance(t, a, a.Latest().Add(-1), true)
		assert.False(t, changed)
		a, changed = advance(t, a, a.Latest(), true)
		require.True(t, changed)
		require.Equal(t, Reissuing, a.Stage())
		assert.Equal(t, old.Current.Cert.NotAfter, a.Latest(), "the old CA has expired")
		_, changed = advance(t, a, a.Latest().Add(-1), true)
		assert.False(t, changed)
		a, changed = advance(t, a, a.Latest(), true)
		require.True(t, changed)
		assert.Equal(t, Steady, a.Stage())
	})
	t.Run("tls 35: before a CA is so old that it has to be replaced, its own replacement of another one ends", func(t *testing.T) {
		t.Parallel()
		a, _ := advance(t, old, day(1), true)
		a, _ = advance(t, a, a.Latest(), true)
		assert.Equal(t, Due(a.Current.Cert), a.Latest())
		assert.True(t, a.Latest().Before(old.Current.Cert.NotAfter))
	})
	t.Run("tls 35: no stage that waits as usual ends earlier, with the shortest life of a CA that the options allow", func(t *testing.T) {
		t.Parallel()
		for _, leaf := range []time.Duration{time.Hour, 24 * time.Hour, year} {
			for _, wait := range []time.Duration{0, time.Minute, time.Hour, 100 * time.Hour} {
				times := Times{Life: 2 * (leaf + 2*wait), Leaf: leaf, Wait: wait}
				ca, err := NewCA(day(0), "test", times.Life)
				require.NoError(t, err)
				a := Authority{Current: ca}
				now := a.Until(times).Truncate(time.Second).Add(time.Second)
				for range 2 {
					a, _, err = a.Advance(now, "test", false, times)
					require.NoError(t, err)
					a, _ = a.MarkSpread(now)
					assert.Equal(t, now.Add(wait), a.Until(times), "leaf %s, wait %s, stage %s", leaf, wait, a.Stage())
					now = now.Add(wait)
				}
			}
		}
	})
	t.Run("a time in the future is corrected", func(t *testing.T) {
		t.Parallel()
		a, _ := advance(t, old, day(1), true)
		a, _ = a.MarkSpread(day(50))
		a, changed := a.MarkSpread(day(2))
		assert.True(t, changed)
		assert.Equal(t, day(2), a.Spread)
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
