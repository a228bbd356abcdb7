package e2e

import (
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

func (c *cluster) component(action string, n component.Name) {
	c.t.Helper()
	code, _, stderr := devcluster(c.t, "component", action, string(n), "--dir", string(c.dir))
	require.Zero(c.t, code, stderr)
}

// TestComponents stops, starts and restarts the components of one cluster.
func TestComponents(t *testing.T) {
	t.Parallel()
	c := up(t)
	before := c.state()
	server, err := url.Parse(before.Server)
	require.NoError(t, err)
	c.kubectl("create", "configmap", "kept")

	c.component("stop", component.APIServer)
	_, err = net.Dial("tcp", server.Host)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	code, stdout, _ := devcluster(t, "status", "--dir", string(c.dir), "-o", "json")
	assert.Equal(t, 1, code)
	s := decode[state.State](t, stdout)
	assert.Equal(t, []any{false, state.Degraded, "apiserver is stopped"}, []any{s.Ready, s.Phase, s.Message})
	assert.False(t, c.state().Ready)
	code, _, stderr := devcluster(t, "component", "restart", "scheduler", "--dir", string(c.dir))
	assert.Equal(t, 1, code)
	assert.Equal(t, "devcluster: component scheduler cannot be started: apiserver is not running, start it first\n", stderr)

	c.component("start", component.APIServer)
	assert.True(t, c.state().Ready)
	assert.Equal(t, before.Server, c.state().Server, "the same port")
	c.kubectl("get", "configmap", "kept")

	for _, n := range component.All() {
		begin := time.Now()
		c.component("restart", n)
		t.Logf("restart of %s: %s", n, time.Since(begin).Round(time.Millisecond))
		assert.True(t, c.state().Ready, n)
		assert.NotEqual(t, pids(before)[string(n)], pids(c.state())[string(n)])
		assert.False(t, alive(pids(before)[string(n)]), n)
	}
	c.kubectl("get", "configmap", "kept")
	// All of them work again: admitted, stored, controlled, scheduled, and run by kwok.
	c.kubectl("create", "deployment", "web", "--image=none")
	c.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
	testVolumesAfterRestarts(c)

	// The way out for kinds that come later: see the help of 'component'.
	c.apply(widgets)
	c.kubectl("wait", "--for=condition=Established", "crd/widgets.example.dev")
	c.component("restart", component.ControllerManager)
	requireCollection(t, c)

	code, _, stderr = devcluster(t, "component", "restart", "kubelet", "--dir", string(c.dir))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `component "kubelet" is unknown`)
}
