package operator

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadinessOfPeers(t *testing.T) {
	t.Parallel()
	r := &runner{process: &process{operator: New("op"), logger: slog.New(slog.DiscardHandler)}, health: &health{}}
	page := func() (int, string) {
		answer := httptest.NewRecorder()
		serveProbes(r.health.ready, r.readyProbes(), r.logger)(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.Code, string(text)
	}
	_, text := page()
	assert.NotContains(t, text, "peering", "peering 1: without the setting nothing is said")
	r.Peering.Priority = "0"
	code, text := page()
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "nothing is watched yet\npeering: waits\n", text)
	other := peering.Peer{Lease: "a", Holder: "laptop", Priority: 1, Ends: time.Now().Add(time.Minute)}
	r.health.judged(peering.Judge(peering.Peer{}, []peering.Peer{other}, time.Now()))
	t.Run("peering 12: a process that pauses is ready, and says why it pauses", func(t *testing.T) {
		code, text := page()
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "ok\npeering: paused: laptop works, which has the higher priority 1\n", text)
	})
	r.health.judged(peering.Judge(peering.Peer{}, nil, time.Now()))
	_, text = page()
	assert.Equal(t, "nothing is watched yet\npeering: works\n", text)
}

func TestPeeringConfig(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason   string
		election election
		given    config.Peering
		want     peering.Config
		err      string
	}{
		{"peering 6: the leader of an election, in its namespace", election{Lock: config.LeaseLock, Name: "lock", Namespace: "shop"}, config.Peering{Priority: "-7"},
			peering.Config{Group: peering.Group{Domain: "operkit.dev", Operator: "op", Namespace: "shop"}, Priority: -7, Election: "shop/lock"}, ""},
		{"peering 6: an election for life is one, too", election{Lock: config.ForLifeLock, Name: "lock", Namespace: "shop"}, config.Peering{Priority: "0", Namespace: "peers"},
			peering.Config{Group: peering.Group{Domain: "operkit.dev", Operator: "op", Namespace: "peers"}, Election: "shop/lock"}, ""},
		{"a process alone", election{Lock: config.NoLock, Name: "op"}, config.Peering{Priority: "100", Namespace: "peers"},
			peering.Config{Group: peering.Group{Domain: "operkit.dev", Operator: "op", Namespace: "peers"}, Priority: 100}, ""},
		{"nowhere", election{Lock: config.NoLock, Name: "op"}, config.Peering{Priority: "100"}, peering.Config{}, "peering.priority needs peering.namespace outside of a Pod"},
		{"peering 6: replicas that all work", election{Lock: config.PerObjectLock, Name: "op"}, config.Peering{Priority: "1", Namespace: "peers"}, peering.Config{},
			"peering.priority has no meaning with leader-election.lock per-object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			p := &process{operator: New("op"), logger: slog.New(slog.DiscardHandler)}
			p.Peering = row.given
			got, err := (&runner{process: p, election: row.election, health: &health{}}).peeringConfig()
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			got.Logger, got.Changed, got.Timing = nil, nil, nil
			assert.Equal(t, row.want, got)
		})
	}
}
