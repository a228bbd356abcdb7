package cluster

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestPauseBetweenDiscoveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{ctx: t.Context()}
		d := newDefinitions(s)
		var pauses []time.Duration
		delay := firstTry
		for range 8 {
			began := time.Now()
			delay = d.pause(t.Context(), d.changes(anyGroup), delay)
			pauses = append(pauses, time.Since(began))
		}
		assert.Equal(t, firstTry, pauses[0])
		assert.Equal(t, 2*firstTry, pauses[1])
		assert.Equal(t, longestTry, pauses[7], "without a watch of definitions the looks become rare")

		changed := d.changes(anyGroup)
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			obj := &unstructured.Unstructured{}
			obj.SetName("movers.example.dev")
			s.resources = &resources{}
			d.observe(deploy.Event{Type: deploy.Added, New: obj})
		}()
		next := d.pause(t.Context(), changed, longestTry)
		assert.Equal(t, time.Second+settling, time.Since(began), "a change is followed soon")
		assert.Equal(t, firstTry, next, "and looked after, since discovery lags behind")
	})
}

func TestTogether(t *testing.T) {
	t.Parallel()
	kind := func(group, version, name string, preferred ...bool) deploy.ServedKind {
		return deploy.ServedKind{Kind: schema.GroupVersionKind{Group: group, Version: version, Kind: name}, Preferred: len(preferred) == 0}
	}
	before := []deploy.ServedKind{
		kind("a", "v1", "A"), kind("b", "v2", "B"), kind("b", "v1", "B", false), kind("c", "v1", "C"), kind("gone", "v1", "G"),
	}
	now := []deploy.ServedKind{kind("a", "v1", "A"), kind("a", "v1", "New"), kind("b", "v1", "B"), kind("b", "v3", "B", false), kind("c", "v1", "C")}
	unknown := func(version schema.GroupVersion) bool { return version.Group == "b" && version.Version == "v2" }
	assert.Equal(t, []deploy.ServedKind{
		kind("a", "v1", "A"), kind("a", "v1", "New"), kind("b", "v2", "B"), kind("b", "v1", "B", false), kind("b", "v3", "B", false), kind("c", "v1", "C"),
	}, together(now, before, unknown), "only what doesn't answer is still there, in its old order")
	all := func(schema.GroupVersion) bool { return true }
	assert.Equal(t, before, together(nil, before, all))
}

// singleCluster is a cluster whose API server has one object.
func singleCluster(t *testing.T, options ...Option) *Cluster {
	t.Helper()
	server := httptest.NewServer(&single{})
	ctx, cancel := context.WithCancel(t.Context())
	c, err := New(ctx, &rest.Config{Host: server.URL}, append(options, Logger(slog.New(slog.DiscardHandler)))...)
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); c.Wait(); server.CloseClientConnections(); server.Close() })
	return c
}

// watchOnce subscribes to a kind, and returns its informers when the subscription has ended.
func watchOnce(t *testing.T, c *Cluster) *watchedKind {
	t.Helper()
	life, end := context.WithCancel(t.Context())
	subscription, err := c.View().Subscribe(life, heldKind, func(deploy.Event) {})
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	c.store.mu.RLock()
	watched := c.store.watched[heldKind]
	c.store.mu.RUnlock()
	end()
	require.Eventually(t, func() bool {
		c.store.mu.RLock()
		defer c.store.mu.RUnlock()
		return c.store.watched[heldKind] == nil
	}, time.Minute, time.Millisecond)
	return watched
}

func TestNamespacesAreWatchedOnce(t *testing.T) {
	t.Parallel()
	c := singleCluster(t, Namespaces("n*"))
	for range 3 {
		life, end := context.WithCancel(t.Context())
		_, err := c.View().Subscribe(life, heldKind, func(deploy.Event) {})
		require.NoError(t, err)
		end()
		require.Eventually(t, func() bool {
			c.store.mu.RLock()
			defer c.store.mu.RUnlock()
			return len(c.store.watched) == 0
		}, time.Minute, time.Millisecond)
	}
	k := c.store.scope.kind
	k.publishing.Lock()
	defer k.publishing.Unlock()
	assert.Len(t, k.subscriptions, 1, "however often the first kind is watched")
}

func TestWritesOutliveEarlierInformers(t *testing.T) {
	t.Parallel()
	c := singleCluster(t, Namespaces("n"))
	earlier := watchOnce(t, c)
	subscription, err := c.View().Subscribe(t.Context(), heldKind, func(deploy.Event) {})
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": singleRef.Name, "namespace": singleRef.Namespace, "uid": "u", "resourceVersion": "99",
	}}}
	c.store.wrote(singleRef, obj)
	earlier.close() // as its goroutine does, however late that runs
	got, err := c.View().Get(t.Context(), singleRef)
	require.NoError(t, err)
	assert.Equal(t, "99", got.GetResourceVersion(), "never older than our own write")
}
