package leader

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// freezeAPIServer has the API server answer nothing until the answer is called: connections stay, and what is sent waits.
func freezeAPIServer(t *testing.T, env *envtest.Env) (thaw func()) {
	t.Helper()
	plane, err := devcluster.Open(env.Dir, nil)
	require.NoError(t, err)
	state, err := plane.State()
	require.NoError(t, err)
	for _, component := range state.Components {
		if component.Name == devcluster.APIServer {
			require.NoError(t, syscall.Kill(component.PID, syscall.SIGSTOP))
			return func() { require.NoError(t, syscall.Kill(component.PID, syscall.SIGCONT)) }
		}
	}
	require.Fail(t, "there is no API server")
	return nil
}

// TestOutages are all of one control plane of the test's own, one after the other.
func TestOutages(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, rights(), envtest.OwnCluster("--components=etcd,apiserver"))
	first := startProcess(t, env, brief)
	awaitLeader(t, first)
	awaitWritten(t, env, 1)
	second := startProcess(t, env, brief)

	t.Run("watch mistake 3: pauses of the API server that are shorter than the renew deadline change nothing", func(t *testing.T) {
		for range 3 {
			thaw := freezeAPIServer(t, env)
			time.Sleep(brief / 4)
			thaw()
			time.Sleep(brief / 2)
		}
		assert.Empty(t, first.ended)
		assert.Empty(t, second.leads)
		wrote(t, env, 1, 0)
	})
	t.Run("watch mistake 4: a longer one ends the leadership while it lasts", func(t *testing.T) {
		thaw := freezeAPIServer(t, env)
		start := time.Now()
		assert.Contains(t, first.awaitEnd(t), "leadership lost")
		assert.Less(t, time.Since(start), brief*2/3+slack, "at the renew deadline")
		time.Sleep(brief)
		assert.Empty(t, second.leads, "what can't be read isn't taken, however old it is")
		thaw()
		awaitLeader(t, second)
		awaitWritten(t, env, 2)
		time.Sleep(time.Second)
		wrote(t, env, 2, 1) // the call that was in flight may be carried out late
	})
	first, second = second, startProcess(t, env, brief)
	t.Run("watch mistake 3: so does one that is down, and one leads when it is back", func(t *testing.T) {
		env.StopAPIServer(t)
		assert.Contains(t, first.awaitEnd(t), "leadership lost")
		time.Sleep(brief)
		assert.Empty(t, second.leads, "what can't be read isn't taken, however old it is")
		env.StartAPIServer(t)
		awaitLeader(t, second)
		awaitWritten(t, env, 3)
		time.Sleep(time.Second)
		wrote(t, env, 3, 1)
	})
	second.send(t, syscall.SIGTERM)
	assert.Equal(t, "end", second.awaitEnd(t))
}
