package ansible

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// TestAccess has a run ask an API server that says for whom it is asked.
func TestAccess(t *testing.T) {
	t.Parallel()
	t.Run("hooks 88: as its ServiceAccount, until it ends", func(t *testing.T) {
		t.Parallel()
		var users []string
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			users = append(users, r.Header.Get("Impersonate-User"))
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"test"}}`)
		}))
		t.Cleanup(api.Close)
		access, err := proxy.New(t.Context(), proxy.Config{API: &rest.Config{Host: api.URL}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		t.Cleanup(access.Close)
		of := entry()
		of.ServiceAccount = &watches.ServiceAccount{Name: "caches"}
		var ask func() int
		f := &fake{answer: func(in playbook.Input) (*playbook.Result, error) {
			ask = asker(t, in.Kubeconfig)
			assert.Equal(t, http.StatusOK, ask())
			return &playbook.Result{}, nil
		}}
		h := reconciletest.Drive(t, watch.NewController(of.Kind, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
			f.now = env.Now
			return &reconciler{env: env, entry: of, runs: f, access: access, period: time.Hour}, nil
		}))
		h.Apply(cache)
		h.Advance(0)
		assert.Equal(t, []string{"system:serviceaccount:test:caches"}, users)
		assert.Equal(t, http.StatusUnauthorized, ask())
		assert.Len(t, users, 1)
	})
	t.Run("hooks 88: none without a ServiceAccount", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		h := drive(t, entry(), f)
		h.Apply(cache)
		h.Advance(0)
		assert.Nil(t, f.ran()[0].Kubeconfig)
	})
	t.Run("hooks 88: the namespace of the ServiceAccount of a cluster-scoped resource has to be named", func(t *testing.T) {
		t.Parallel()
		of := entry()
		of.ServiceAccount = &watches.ServiceAccount{Name: "caches"}
		r := &reconciler{entry: of}
		resource := resourceOf(t, `{apiVersion: example.com/v1, kind: Cache, metadata: {name: front}}`)
		_, err := r.grant(resource)
		require.EqualError(t, err, "serviceAccount of the entry Cache.example.com: the resource has no namespace: set serviceAccount.namespace")
		of.ServiceAccount.Namespace = "ops"
		grant, err := r.grant(resource)
		require.NoError(t, err)
		assert.Equal(t, "ops/caches", grant.ServiceAccount.String())
	})
}

// asker returns a function that asks by a kubeconfig, and returns the code of the response.
func asker(t *testing.T, kubeconfig []byte) func() int {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return func() int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/api/v1/namespaces/test/configmaps/a", nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
}

// recorded is a sink of events.
type recorded []string

func (r *recorded) Record(one event.Event) { *r = append(*r, one.Reason+": "+one.Note) }

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("hooks 82: a failure is an event, if it is another one than before", func(t *testing.T) {
		t.Parallel()
		message := "no space"
		f := &fake{answer: func(playbook.Input) (*playbook.Result, error) {
			return &playbook.Result{Failures: 1, Failed: []playbook.FailedTask{{Message: message}}}, nil
		}}
		var all recorded
		of := entry()
		h := reconciletest.Drive(t, watch.NewController(of.Kind, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
			f.now, env.Events = env.Now, &all
			return &reconciler{env: env, entry: of, runs: f, period: time.Hour}, nil
		}))
		h.Apply(cache)
		for _, message = range []string{"no space", "no space", "no time"} {
			_, err := h.Reconcile("Cache front")
			require.Error(t, err)
		}
		assert.Equal(t, recorded{"RunFailed: /playbook.yml: no space", "RunFailed: /playbook.yml: no time"}, all)
	})
}
