package pki

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// host is a program that reads its Secret with a delay.
type host struct {
	// reloads: it reads its Secret again and again. Otherwise it reads it when it is restarted, because the digest of
	// the Secret has changed.
	reloads bool
	// clientOnly: it has no certificate, and reads the bundle alone.
	clientOnly bool
	holds      holding
	// secret is what the Secret has, and since when what the host looks at is as it is.
	leaf     Pair
	secret   holding
	since    time.Time
	restarts int
}

// write stores what the Secret has to have.
func (h *host) write(t *testing.T, a Authority, now time.Time) {
	t.Helper()
	want := holding{bundle: a.Bundle(), digest: a.Digest(nil)}
	if !h.clientOnly {
		v := Judge(now, Stored{h.leaf.CertPEM, h.leaf.KeyPEM, fingerprintOf(h.leaf)}, wanted(t, "web"), a.Current, a.Trusted())
		if v.Reason != "" {
			h.leaf = newLeaf(t, a.Current, now, "web")
		}
		want.chain, want.digest = a.Chain(h.leaf), a.Digest(h.leaf.Cert.Raw)
	}
	if h.reloads && string(want.chain)+string(want.bundle) != string(h.secret.chain)+string(h.secret.bundle) || want.digest != h.secret.digest {
		h.since = now
	}
	h.secret = want
}

// read takes over what the Secret has, if the host looks at it after the time lag.
func (h *host) read(now time.Time, lag time.Duration) {
	if now.Sub(h.since) < lag || h.secret.bundle == nil {
		return
	}
	if !h.reloads {
		if h.holds.digest == h.secret.digest {
			return
		}
		h.restarts++
	}
	h.holds = h.secret
}

// Whatever the order of steps, kills, reads and restarts: while each host that reloads reads its Secret within the time
// Wait, and each other one is restarted within it when the digest changes, each host trusts each other one.
func TestRollNeverBreaksTrust(t *testing.T) {
	t.Parallel()
	for pathLength, rule := range []string{
		"tls 33: also if the old CA can't sign the new one, each host trusts each other one in all stages",
		"tls 8: hosts that read their Secrets within the wait, or restart within it when the digest changes, trust each other in all stages",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(12) {
				neverBreaks(t, rand.New(rand.NewPCG(seed, 1)), pathLength, fmt.Sprintf("seed %d", seed))
			}
		})
	}
}

func neverBreaks(t *testing.T, random *rand.Rand, pathLength int, name string) {
	t.Helper()
	a, now := Authority{Current: caOf(t, pathLength)}, day(0)
	hosts := []*host{{reloads: true}, {reloads: true}, {}, {}, {clientOnly: true}, {clientOnly: true, reloads: true}}
	crossed, steps, trusted := 0, map[Stage]int{}, map[[2]string]bool{}
	for step := range 120 {
		now = now.Add(time.Duration(random.IntN(30)) * time.Minute)
		// A process knows only what is stored.
		stored, err := ParseAuthority(a.Data())
		require.NoError(t, err)
		stored.Spread = a.Spread
		next, changed, err := stored.Advance(now, "test", step == 10 || step > 20 && random.IntN(10) == 0, times)
		require.NoError(t, err)
		if a = next; changed {
			steps[a.Stage()]++
			if a.Stage() == Trusting && a.Cross != nil {
				crossed++
			}
		}
		complete := true
		for _, i := range random.Perm(len(hosts)) {
			if complete = random.IntN(6) > 0; !complete {
				break // killed before this write
			}
			hosts[i].write(t, a, now)
		}
		if complete {
			a, _ = a.MarkSpread(now)
		}
		for _, h := range hosts {
			// At any time, and at the latest before the wait has passed.
			lag := times.Wait - 30*time.Minute
			if random.IntN(2) == 0 {
				lag = 0
			}
			if !h.reloads && random.IntN(20) == 0 {
				h.holds = h.secret // its Pod moves to another node
			}
			h.read(now, lag)
		}
		for _, server := range hosts {
			for _, client := range hosts {
				if server.clientOnly || server.holds.bundle == nil || client.holds.bundle == nil {
					continue
				}
				pair := [2]string{string(client.holds.bundle), string(server.holds.chain)}
				if !trusted[pair] { // all is valid for longer than this test's time
					require.NoError(t, client.holds.byGoAt(t, server.holds, now), "%s, step %d, stage %s", name, step, a.Stage())
				}
				trusted[pair] = true
			}
		}
	}
	require.Greater(t, steps[Steady], 1, name)
	assert.Equal(t, steps[Trusting]-1+pathLength, crossed, "all CAs but one that was stored by hand sign the next one")
	for _, h := range hosts {
		most := 1 + steps[Reissuing] + steps[Trusting] - crossed // the first one is its start
		if h.clientOnly {
			most = 1 + steps[Reissuing]
		}
		if !h.reloads {
			assert.LessOrEqual(t, h.restarts, most, name)
		}
	}
}

func fingerprintOf(pair Pair) string {
	if pair.Cert == nil {
		return ""
	}
	return Fingerprint(pair.Cert)
}
