package leader

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/tools/envtest"
)

// runForLife stands for the ConfigMap in the name of a Pod, until stop. leads is closed when it leads.
func runForLife(t *testing.T, env *envtest.Env, pod string) (leads chan struct{}, stop func() error) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	api, err := cluster.New(t.Context(), env.Config, cluster.Logger(quiet))
	require.NoError(t, err)
	lock, err := leader.ForLife(api.Port(), env.Namespace+"/operator", leader.Identity(pod), leader.Logger(quiet), leader.Timing(0, 0, time.Second/5))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	leads, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- lock.Run(ctx, func(ctx context.Context) error {
			close(leads)
			<-ctx.Done()
			return nil
		})
	}()
	return leads, func() error { cancel(); return <-ended }
}

func await(t *testing.T, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		require.Fail(t, "it doesn't lead")
	}
}

func TestForLife(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.RolesIn("testdata/forlife.yaml")))
	admin, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	pods := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for _, name := range []string{"first", "second"} {
		_, err := admin.Port().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": env.Namespace},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "operator", "image": "operator"}}},
		}}, deploy.CreateOptions{})
		require.NoError(t, err)
	}
	t.Run("spec watch 33: it stays with the Pod, and is free when the Pod is gone", func(t *testing.T) {
		leads, stop := runForLife(t, env, "first")
		await(t, leads)
		waits, stopWaiting := runForLife(t, env, "second")
		require.NoError(t, stop())
		again, stopAgain := runForLife(t, env, "first")
		await(t, again)
		require.NoError(t, stopAgain())
		time.Sleep(time.Second) // some looks at it
		select {
		case <-waits:
			assert.Fail(t, "the Pod is still there")
		default:
		}
		require.NoError(t, admin.Port().Delete(t.Context(), deploy.Ref{Kind: pods, Namespace: env.Namespace, Name: "first"}, deploy.DeleteOptions{}))
		await(t, waits)
		require.NoError(t, stopWaiting())
	})
	t.Run("spec watch 33: a Pod that isn't there", func(t *testing.T) {
		api, err := cluster.New(t.Context(), env.Config)
		require.NoError(t, err)
		lock, err := leader.ForLife(api.Port(), env.Namespace+"/operator", leader.Identity("third"))
		require.NoError(t, err)
		err = lock.Run(t.Context(), func(context.Context) error { return nil })
		require.ErrorContains(t, err, "set POD_NAME to the name of the Pod that this process runs in")
	})
}
