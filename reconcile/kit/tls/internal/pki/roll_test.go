package pki

import (
	"crypto/x509"
	"math/rand/v2"
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
		assert.True(t, a.Until(times).IsZero())
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

// host is a program that reads its Secret with a delay.
type host struct {
	leaf   Pair
	bundle *x509.CertPool
	// pending is what the Secret has, and since when.
	secretLeaf   Pair
	secretBundle []byte
	since        time.Time
}

// read takes over what the Secret has, if it has it for the time lag.
func (h *host) read(now time.Time, lag time.Duration) {
	if now.Sub(h.since) >= lag && h.secretBundle != nil {
		h.leaf, h.bundle = h.secretLeaf, x509.NewCertPool()
		h.bundle.AppendCertsFromPEM(h.secretBundle)
	}
}

// Whatever the order of steps, kills and reads: while each host reads its Secret within the time Wait, each host
// trusts each other one.
func TestRollNeverBreaksTrust(t *testing.T) {
	t.Parallel()
	t.Run("tls 8: hosts that read their Secrets within the wait trust each other in all stages", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 1))
			a, now := Authority{Current: newCA(t, day(0))}, day(0)
			hosts := make([]*host, 3)
			for i := range hosts {
				hosts[i] = &host{}
			}
			rolls := 0
			for step := range 80 {
				now = now.Add(time.Duration(random.IntN(30)) * time.Minute)
				if a.Stage() == Steady && step > 20 && random.IntN(10) == 0 || rolls > 0 {
					next, changed, err := a.Advance(now, "test", a.Stage() == Steady && random.IntN(5) == 0, times)
					require.NoError(t, err)
					if changed && next.Stage() == Trusting {
						rolls++
					}
					a = next
				} else if a.Stage() == Steady && step == 10 {
					a, _, _ = a.Advance(now, "test", true, times)
					rolls++
				}
				complete := true
				for _, i := range random.Perm(len(hosts)) {
					if random.IntN(4) == 0 {
						complete = false // killed before this write
						break
					}
					h := hosts[i]
					v := Judge(now, Stored{h.secretLeaf.CertPEM, h.secretLeaf.KeyPEM, fingerprintOf(h.secretLeaf)}, wanted(t, "web"), a.Current, a.Trusted())
					leaf := v.Pair
					if v.Reason != "" {
						leaf = newLeaf(t, a.Current, now, "web")
					}
					if string(leaf.CertPEM) != string(h.secretLeaf.CertPEM) || string(a.Bundle()) != string(h.secretBundle) {
						h.secretLeaf, h.secretBundle, h.since = leaf, a.Bundle(), now
					}
				}
				if complete {
					a, _ = a.MarkSpread(now)
				}
				for _, h := range hosts {
					// A host reads at any time, and at the latest after the wait.
					lag := times.Wait - 30*time.Minute
					if random.IntN(2) == 0 {
						lag = 0
					}
					h.read(now, lag)
				}
				for _, server := range hosts {
					for _, client := range hosts {
						if server.bundle == nil || client.bundle == nil {
							continue
						}
						_, err := server.leaf.Cert.Verify(x509.VerifyOptions{Roots: client.bundle, DNSName: "web", CurrentTime: now})
						require.NoError(t, err, "seed %d, step %d, stage %s", seed, step, a.Stage())
					}
				}
			}
			require.Positive(t, rolls)
		}
	})
}

func fingerprintOf(pair Pair) string {
	if pair.Cert == nil {
		return ""
	}
	return Fingerprint(pair.Cert)
}
