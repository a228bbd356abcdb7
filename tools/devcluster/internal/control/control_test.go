package control

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a cluster that remembers what was asked of it.
type recorder struct {
	mu    sync.Mutex
	calls []string
}

func (r *recorder) record(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) Status(context.Context) state.State {
	r.record("status")
	return state.State{Phase: state.Ready, Ready: true, Server: "https://127.0.0.1:1"}
}

func (r *recorder) Down() { r.record("down") }

func (r *recorder) Act(_ context.Context, n component.Name, a Action) error {
	r.record(string(a) + " " + string(n))
	if n == component.Kwok {
		return errors.New("kwok does not want to")
	}
	return nil
}

func TestClientAndServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.sock")
	handler := &recorder{}
	server, err := Listen(path, handler)
	require.NoError(t, err)
	client := NewClient(path)

	s, err := client.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, state.State{Phase: state.Ready, Ready: true, Server: "https://127.0.0.1:1"}, s)
	require.NoError(t, client.Act(t.Context(), component.APIServer, Stop))
	require.NoError(t, client.Act(t.Context(), component.APIServer, Start))
	require.NoError(t, client.Act(t.Context(), component.ControllerManager, Restart))
	assert.EqualError(t, client.Act(t.Context(), component.Kwok, Restart), "kwok does not want to")
	assert.ErrorContains(t, client.Act(t.Context(), "proxy", Stop), `component "proxy" is unknown`)
	assert.EqualError(t, client.Act(t.Context(), component.Etcd, "eject"), `action "eject" is unknown: choose from start, stop, restart`)
	assert.EqualError(t, client.do(t.Context(), "GET", "/nowhere", nil), "control: GET /nowhere: 404 Not Found")
	require.NoError(t, client.Down(t.Context()))
	server.Close(t.Context())
	assert.Equal(t, []string{
		"status", "stop apiserver", "start apiserver", "restart controller-manager", "restart kwok", "down",
	}, handler.calls)

	for _, err := range []error{
		func() error { _, err := client.Status(t.Context()); return err }(),
		client.Down(t.Context()),
		client.Act(t.Context(), component.Etcd, Stop),
	} {
		assert.ErrorIs(t, err, ErrNotRunning)
	}
}

// blocker is a cluster whose actions last until they are abandoned.
type blocker struct {
	recorder
	begun chan struct{}
}

func (b *blocker) Act(ctx context.Context, _ component.Name, _ Action) error {
	close(b.begun)
	<-ctx.Done()
	return ctx.Err()
}

func TestCloseAbandonsWhatLasts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.sock")
	handler := &blocker{begun: make(chan struct{})}
	server, err := Listen(path, handler)
	require.NoError(t, err)
	answered := make(chan error, 1)
	go func() { answered <- NewClient(path).Act(t.Context(), component.Etcd, Start) }()
	<-handler.begun
	server.Close(t.Context())
	assert.Error(t, <-answered)
}

func TestListenNamesTheSocket(t *testing.T) {
	t.Parallel()
	_, err := Listen("/nonexistent/control.sock", &recorder{})
	assert.ErrorContains(t, err, "control: socket /nonexistent/control.sock")
}
