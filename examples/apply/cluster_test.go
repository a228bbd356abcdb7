package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// badCluster is an address where no cluster answers as it should.
type badCluster struct{ address, says string }

func badClusters(t *testing.T) map[string]badCluster {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	answering := func(code int, kind, text string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(text))
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	reach := ": check that it runs and can be reached from here"
	return map[string]badCluster{
		"silent":  {"http://" + listener.Addr().String(), "it doesn't answer" + reach},
		"refuses": {"http://" + closed.Addr().String(), "dial tcp " + closed.Addr().String() + ": connect: connection refused" + reach},
		"an old token": {answering(http.StatusUnauthorized, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`),
			"it doesn't accept the credentials: log in again"},
		"a page of a proxy": {answering(http.StatusOK, "text/html", "<html>"), "the answer isn't a discovery document"},
	}
}

func kubeconfig(address string) string {
	return `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "` + address + `"}}], users: [{name: u, user: {token: old}}]}`
}

// A cluster that isn't there, or doesn't let anybody in, is told at once, and once.
func TestNoCluster(t *testing.T) {
	t.Parallel()
	for name, row := range badClusters(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(write(t, map[string]string{"kubeconfig": kubeconfig(row.address)}), "kubeconfig")
			began := time.Now()
			stdout, stderr, code := call(t.Context(), two, "-f", "-", "--kubeconfig", file)
			assert.Less(t, time.Since(began), firstAnswer+2*time.Second)
			assert.Equal(t, exitFailed, code)
			assert.Empty(t, stdout)
			assert.True(t, strings.HasPrefix(stderr, "apply: cluster "+row.address+": "), stderr)
			assert.Contains(t, stderr, row.says)
			assert.True(t, strings.HasSuffix(stderr, ", or choose another with --context or --kubeconfig\n"), stderr)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}

func TestNoClusterInterrupted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(write(t, map[string]string{"kubeconfig": kubeconfig(badClusters(t)["silent"].address)}), "kubeconfig")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, stderr, code := call(ctx, two, "-f", "-", "--kubeconfig", file)
	assert.Equal(t, exitInterrupted, code)
	assert.Equal(t, "apply: "+errInterrupted.Error()+"\n", stderr)
}
