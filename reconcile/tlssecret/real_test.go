package tlssecret_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// real is a replica with an HTTPS server, on the API server.
type real struct {
	*replica
	address string
}

// connect makes a replica that sees only the Secret, as an operator does.
func connect(ctx context.Context, t *testing.T, config *rest.Config, namespace string, wait time.Duration) *replica {
	t.Helper()
	r := &replica{}
	c := tlssecret.Config{Namespace: namespace, Secret: "hooks-tls", Names: []string{host}, Life: tlssecret.Life{Wait: max(wait, time.Nanosecond)}}
	c.Logger = slog.New(slog.NewTextHandler(&r.log, nil))
	on, err := cluster.New(ctx, config, cluster.Logger(c.Logger), cluster.Namespaces(namespace),
		cluster.Selected(schema.GroupKind{Kind: "Secret"}, nil, c.Selector()))
	require.NoError(t, err)
	t.Cleanup(on.Wait)
	r.Source, err = tlssecret.New(on, c)
	require.NoError(t, err)
	return r
}

// serve starts the HTTPS server of a replica.
func (r *real) serve(t *testing.T) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.address = listener.Addr().String()
	server := &http.Server{
		TLSConfig: r.Server(), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
}

// ask sends a request over a new connection.
func ask(ctx context.Context, address string, bundle []byte) error {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(bundle)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: host, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && string(text) != "ok" {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	return err
}

// TestOnTheAPIServer makes at least 10000 handshakes in the long test, otherwise 1000.
func TestOnTheAPIServer(t *testing.T) {
	env := envtest.Start(t)
	ref := deploy.Ref{Kind: secret.Kind, Namespace: env.Namespace, Name: secret.Name}
	user := env.User(t, "hooks", envtest.InNamespace(
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"hooks-tls"}, Verbs: []string{"get", "list", "watch", "update"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
	))
	admin, err := cluster.New(t.Context(), env.Config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const wait = 2 * time.Second
	var all []*real
	for range 3 {
		all = append(all, &real{replica: connect(ctx, t, user.Config, env.Namespace, wait)})
	}
	t.Run("serving 26: on the API server, replicas that start at once have one certificate, with the rights that Rights names", func(t *testing.T) {
		var group sync.WaitGroup
		for _, r := range all {
			group.Go(func() { assert.NoError(t, r.Load(ctx)) })
		}
		group.Wait()
		for _, r := range all {
			works(t, all[0].replica, r.replica)
		}
	})
	for _, r := range all {
		go func() { _ = r.Run(ctx) }()
		r.serve(t)
	}
	t.Run("serving 26: settled, they send nothing", func(t *testing.T) {
		env.AwaitQuiet(t, user)
		mark := env.Mark(t)
		time.Sleep(10 * time.Second) // nothing may happen, which no event shows
		assert.Empty(t, env.CallsSince(t, mark, user).Count())
	})
	t.Run("serving 27: a real server and clients go on while the CA is replaced and the Secret is deleted", func(t *testing.T) {
		least := int64(1000)
		if os.Getenv("OPERKIT_SOAK") != "" {
			least = 10000
		}
		loading, stop := context.WithCancel(ctx)
		defer stop()
		var done, failed atomic.Int64
		var failure atomic.Value
		var late atomic.Pointer[[]byte] // the bundle as clients know it, which is late
		bundle := all[0].CA()
		late.Store(&bundle)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for n := 0; loading.Err() == nil; n++ {
					if err := ask(ctx, all[n%3].address, *late.Load()); err != nil {
						failed.Add(1)
						failure.Store(err.Error())
					}
					done.Add(1)
				}
			})
		}
		rolls := 0
		for ; done.Load() < least || rolls < 4; rolls++ {
			time.Sleep(wait) // the time that the program itself waits for
			bundle := all[0].CA()
			late.Store(&bundle)
			if rolls%4 == 3 {
				require.NoError(t, admin.Port().Delete(ctx, ref, deploy.DeleteOptions{}))
				require.Eventually(t, func() bool { obj, err := admin.Port().Get(ctx, ref); return err == nil && obj != nil }, time.Minute, 10*time.Millisecond)
				continue
			}
			serial := all[0].serial(t)
			_, err := admin.Port().Patch(ctx, ref, deploy.PatchRequest{
				Type: "application/merge-patch+json", FieldManager: "kubectl",
				Body: fmt.Appendf(nil, `{"metadata":{"annotations":{"operkit.dev/renew":"%d"}}}`, rolls),
			})
			require.NoError(t, err)
			require.Eventually(t, func() bool { return all[0].serial(t) != serial }, time.Minute, 10*time.Millisecond, all[0].log.String())
		}
		stop()
		group.Wait()
		assert.Zero(t, failed.Load(), "%v", failure.Load())
		t.Logf("COUNT handshakes with an HTTPS server %d, failed %d, replacements and deletions %d", done.Load(), failed.Load(), rolls)
		require.Eventually(t, func() bool {
			return all[0].serial(t) == all[1].serial(t) && all[1].serial(t) == all[2].serial(t)
		}, time.Minute, 10*time.Millisecond)
	})
	t.Run("serving 28: without rights, the error names them", func(t *testing.T) {
		few := connect(ctx, t, env.User(t, "few").Config, env.Namespace, 0)
		err := few.Load(ctx)
		require.ErrorContains(t, err, "Secret "+env.Namespace+"/hooks-tls: can't be read: secrets: not allowed to get secrets")
		reads := connect(ctx, t, env.User(t, "reads", envtest.InNamespace(
			rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}},
		)).Config, env.Namespace, 0)
		require.NoError(t, reads.Load(ctx))
		works(t, all[0].replica, reads)
	})
}
