package tls_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A kill at each write of a replacement, among programs that restart only when their Deployments are rolled out.
func TestOneRestartAfterKills(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls 23: killed at any write of a replacement, each program is restarted once; the write arrives: %t", arrives), func(t *testing.T) {
			t.Parallel()
			writes := replaced(t, 0, arrives)
			require.GreaterOrEqual(t, writes, 15)
			for nth := 1; nth <= writes; nth++ {
				replaced(t, nth, arrives)
			}
			t.Logf("COUNT kills %d", writes)
		})
	}
}

// replaced replaces the CA of a workshop, killed at the nth write of the operator; 0 for no kill. It returns the number
// of the operator's writes.
func replaced(t *testing.T, nth int, arrives bool) (writes int) {
	t.Helper()
	h, _ := newWorkshop(t)
	server, client := &podProgram{name: "web", secret: secretWeb}, &podProgram{name: "worker", secret: secretWorker}
	annotate(h, secretCA, "operkit.dev/renew", "now")
	server.follow(t, h)
	client.follow(t, h)
	if nth > 0 {
		h.Kill(nth, arrives)
	}
	for range 8 {
		h.Advance(20 * time.Minute)
		for _, call := range h.Calls() {
			if call.Write() {
				writes++
			}
		}
		client.follow(t, h)
		require.NoError(t, handshake(server.program, client.program, "web", h.Now()), "killed at write %d", nth)
		server.follow(t, h)
		require.NoError(t, handshake(server.program, client.program, "web", h.Now()), "killed at write %d", nth)
	}
	assert.Equal(t, "Steady", stage(t, h), "killed at write %d", nth)
	h.Ready("Shop tea")
	for _, name := range []string{"web", "worker", "probe"} {
		assert.EqualValues(t, 1, restarts(h, name), "%s, killed at write %d", name, nth)
	}
	return writes
}
