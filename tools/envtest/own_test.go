package envtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// controllerManager returns the process id of a cluster's controller manager.
func controllerManager(t *testing.T, env *envtest.Env) int {
	t.Helper()
	cluster, err := devcluster.Open(env.Dir, nil)
	require.NoError(t, err)
	state, err := cluster.State()
	require.NoError(t, err)
	for _, component := range state.Components {
		if component.Name == devcluster.ControllerManager {
			return component.PID
		}
	}
	t.Fatalf("no controller manager in %v", state.Components)
	return 0
}

func TestOwnClusterHasAnOutageOfItsOwn(t *testing.T) {
	t.Parallel()
	shared := envtest.Start(t)
	var dir string
	t.Run("own", func(t *testing.T) {
		env := envtest.Start(t, envtest.OwnCluster())
		dir = env.Dir
		require.NotEqual(t, shared.Dir, env.Dir)
		require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "before"))
		mark := env.Mark(t)

		env.StopAPIServer(t)
		err := createConfigMap(t, env.Config, env.Namespace, "during")
		require.Error(t, err)
		assert.ErrorContains(t, err, "connect")
		require.NoError(t, createConfigMap(t, shared.Config, shared.Namespace, "during"), "nobody else notices")

		env.StartAPIServer(t)
		_, err = client(t, env.Config).Resource(configMaps).Namespace(env.Namespace).Get(t.Context(), "before", metav1.GetOptions{})
		require.NoError(t, err, "what was stored is still there")
		calls := env.CallsSince(t, mark)
		assert.Len(t, calls, 1, "the audit log goes on: %s", calls)
	})
	assert.NoDirExists(t, dir, "it goes with its test")
}

func TestOwnClusterHasAnOutageOfItsStorage(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"))
	require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "before"))
	stored := client(t, env.Config).Resource(configMaps).Namespace(env.Namespace)

	env.StopEtcd(t)
	brief, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := stored.Create(brief, configMap("during"), metav1.CreateOptions{})
	require.Error(t, err, "nothing can be stored")
	_, err = stored.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: "0"})
	require.NoError(t, err, "the API server itself is there")

	env.StartEtcd(t)
	require.Eventually(t, func() bool {
		_, err = stored.Get(t.Context(), "before", metav1.GetOptions{})
		return err == nil
	}, 30*time.Second, 10*time.Millisecond, "what was stored is still there: %v", err)
	require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "after"))
}

func TestOutagesOfASharedClusterAreRefused(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	for component, stop := range map[string]func(t testing.TB){"apiserver": env.StopAPIServer, "etcd": env.StopEtcd} {
		message := fatal(t, stop)
		assert.Contains(t, message, component)
		assert.Contains(t, message, "OwnCluster()")
	}
	require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "still-there"))
}

func TestOwnClusterTakesFlags(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver", "--audit=false"), envtest.CRDs("testdata/crds"))
	cluster, err := devcluster.Open(env.Dir, nil)
	require.NoError(t, err)
	state, err := cluster.State()
	require.NoError(t, err)
	assert.Len(t, state.Components, 2)
	_, err = client(t, env.Config).Resource(widgets).Namespace(env.Namespace).Create(t.Context(), widget("w"), metav1.CreateOptions{})
	require.NoError(t, err, "definitions don't wait for a garbage collector that isn't there")
	message := fatal(t, func(t testing.TB) { env.Mark(t) })
	assert.Contains(t, message, "keeps no audit log, so calls can't be counted: start the cluster with --audit")
}

func TestOwnClusterThatDoesNotStartFailsTheTest(t *testing.T) {
	t.Parallel()
	began := time.Now()
	message := fatal(t, func(t testing.TB) { envtest.Start(t, envtest.OwnCluster("--components=nonsense")) })
	assert.Contains(t, message, "no control plane: cluster: devcluster up ended before it was ready: exit status")
	assert.Contains(t, message, "nonsense", "with what the program said")
	assert.Less(t, time.Since(began), 30*time.Second)
}
