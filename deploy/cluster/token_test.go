package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// guarded is an API server that takes only the tokens that are valid now.
type guarded struct {
	scripted
	file string

	mu      sync.Mutex
	valid   map[string]bool
	refused int
	ended   chan struct{}
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{file: filepath.Join(t.TempDir(), "token"), valid: map[string]bool{}, ended: make(chan struct{})}
	g.scripted = scripted{streams: true, events: make(chan string), items: []string{configMapAt("settings", 50)}}
	g.issue(t, "token-0")
	return g
}

// issue writes a token to the file, as a kubelet does, and accepts it.
func (g *guarded) issue(t *testing.T, token string) {
	t.Helper()
	g.mu.Lock()
	g.valid[token] = true
	g.mu.Unlock()
	beside := g.file + ".new"
	require.NoError(t, os.WriteFile(beside, []byte(token+"\n"), 0o600))
	require.NoError(t, os.Rename(beside, g.file))
}

// revoke has a token accepted no longer, and ends every stream.
func (g *guarded) revoke(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.valid, token)
	close(g.ended)
	g.ended = make(chan struct{})
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	accepted := len(r.Header.Get("Authorization")) > len("Bearer ") && g.valid[r.Header.Get("Authorization")[len("Bearer "):]]
	ended := g.ended
	if !accepted {
		g.refused++
	}
	g.mu.Unlock()
	switch {
	case !accepted:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`)
		return
	case r.Method == http.MethodPatch:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, configMapAt(filepath.Base(r.URL.Path), 150))
		return
	}
	served := make(chan struct{})
	ctx, cancel := contextUntil(r, ended, served)
	defer func() { close(served); cancel() }()
	g.scripted.ServeHTTP(w, r.WithContext(ctx))
}

func (g *guarded) refusals() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

// A token that is renewed on disk is taken up without a restart, also when the old one has been refused before that was
// noticed.
func TestRotatedToken(t *testing.T) {
	t.Parallel()
	api := newGuarded(t)
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	said, events := &lines{}, &told{}
	c := newCluster(t, &rest.Config{Host: server.URL, BearerTokenFile: api.file}, cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
	subscription, err := c.View().Subscribe(t.Context(), configMap, events.handle)
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	events.take(t, "ADDED shop/settings")
	m := must(deploy.NewManager(c))
	apply(t, m, object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: written}}"))

	for n := range 3 {
		refusedBefore := api.refusals()
		api.issue(t, fmt.Sprintf("token-%d", n+1))
		api.revoke(fmt.Sprintf("token-%d", n))
		require.Eventually(t, func() bool { return said.count("watching again") == n+1 }, patience, 10*time.Millisecond, "not only within a minute")
		api.events <- fmt.Sprintf(`{"type":"MODIFIED","object":%s}`, configMapAt("settings", 200+n))
		events.take(t, "MODIFIED shop/settings")
		refused := api.refusals() - refusedBefore
		assert.Positive(t, refused, "the old token was tried")
		assert.LessOrEqual(t, refused, 2, "and given up at once")
		assert.Equal(t, n+1, said.count("watch failed"), "%s", said)
	}
	t.Run("a write that meets the change is made again", func(t *testing.T) {
		api.issue(t, "token-4")
		api.revoke("token-3")
		apply(t, m, object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: also-written}}"))
	})
	t.Run("a token that nobody accepts is said once, and the next one heals it", func(t *testing.T) {
		require.Eventually(t, func() bool { return said.count("watching again") == said.count("watch failed") }, patience, 10*time.Millisecond)
		before := said.count("watch failed")
		api.revoke("token-4")
		time.Sleep(3 * time.Second)
		assert.Equal(t, before+1, said.count("watch failed"), "%s", said)
		assert.Contains(t, said.String(), "it doesn't accept our credentials")
		api.issue(t, "token-5")
		require.Eventually(t, func() bool { return said.count("watching again") == before+1 }, patience, 10*time.Millisecond)
		assert.Equal(t, before+1, said.count("watch failed"))
	})
}

// As a kubelet does it, with tokens that overlap: nobody notices, since the file is read about once a minute.
func TestTokensThatOverlap(t *testing.T) {
	t.Parallel()
	rotations, lives := 1, time.Second
	if os.Getenv(soakVariable) != "" {
		rotations, lives = 2, 70*time.Second
	}
	api := newGuarded(t)
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	said := &lines{}
	c := newCluster(t, &rest.Config{Host: server.URL, BearerTokenFile: api.file}, cluster.Logger(slog.New(slog.NewTextHandler(said, nil))))
	watch(t, c, configMap)
	writes := 0
	for n := range rotations {
		api.issue(t, fmt.Sprintf("token-%d", n+1))
		for end := time.Now().Add(lives); time.Now().Before(end); writes++ {
			obj := object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: written}}")
			_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
			require.NoError(t, err)
			time.Sleep(200 * time.Millisecond)
		}
		if lives > time.Minute {
			api.revoke(fmt.Sprintf("token-%d", n))
		}
	}
	t.Logf("%d writes over %d rotations", writes, rotations)
	assert.Zero(t, api.refusals())
	assert.Empty(t, said.String())
}

// A file that isn't there yet leaves the token of the configuration, which isn't changed.
func TestTokenBesideItsFile(t *testing.T) {
	t.Parallel()
	api := newGuarded(t)
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	for name, test := range map[string]struct{ reason, file, token string }{
		"no file":   {"client-go makes do with the token", "/nowhere/token", "token-0"},
		"both":      {"the file is newer", api.file, "old"},
		"file only": {"as kubeconfig files have it", api.file, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := &rest.Config{Host: server.URL, BearerTokenFile: test.file, BearerToken: test.token}
			c := newCluster(t, config)
			_, err := c.Port().Apply(t.Context(), object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: written}}"), deploy.ApplyOptions{FieldManager: "m"})
			require.NoError(t, err, test.reason)
			assert.Equal(t, []string{test.file, test.token}, []string{config.BearerTokenFile, config.BearerToken})
		})
	}
}

// contextUntil is that of a request, ended earlier when ended is closed.
func contextUntil(r *http.Request, ended, served <-chan struct{}) (context.Context, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-ended:
			cancel()
		case <-served:
		}
	}()
	return ctx, cancel
}
