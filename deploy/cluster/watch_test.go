package cluster_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// gate stands between a client and its API server. It can be shut for watches, and answer
// those that go on from a version that this is too old.
type gate struct {
	next http.RoundTripper

	mu      sync.Mutex
	shut    bool
	expired bool
	// forgotten counts the requests that were told so.
	forgotten int
	streams   []io.Closer
}

var errShut = errors.New("the gate is shut")

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if query.Get("watch") == "" {
		return g.next.RoundTrip(r)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return nil, errShut
	}
	if g.expired && query.Get("resourceVersion") != "" {
		g.forgotten++
		return &http.Response{StatusCode: http.StatusGone, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old","code":410}`))}, nil
	}
	response, err := g.next.RoundTrip(r)
	if err == nil {
		g.streams = append(g.streams, response.Body)
	}
	return response, err
}

// cut ends the watches that stand, and lets none through.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	for _, stream := range g.streams {
		_ = stream.Close()
	}
	g.streams = nil
}

// open lets watches through; those that go on from a version only if it isn't forgotten.
func (g *gate) open(forgotten bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.expired = false, forgotten
}

func gated(config *rest.Config) (*rest.Config, *gate) {
	g := &gate{}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		g.next = next
		return g
	})
	return config, g
}

// What happened while a watch was broken is told afterwards, though the API server has
// forgotten it.
func TestWatchAcrossTheForgotten(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	config, gate := gated(env.Config)
	c := newCluster(t, config, cluster.Namespaces(env.Namespace))
	client := others(t, env, configMap)
	for _, name := range []string{"changed", "deleted", "same", "successor"} {
		_, err := client.Create(t.Context(), settings(t, env, name, "1"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	events := make(chan deploy.Event, 100)
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(event deploy.Event) {
		if event.New.GetName() != "kube-root-ca.crt" {
			events <- event
		}
	})
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	for range 4 {
		assert.Equal(t, deploy.Added, (<-events).Type)
	}

	gate.cut()
	edit(t, client, "changed", `{"data":{"a":"2"}}`)
	for _, name := range []string{"deleted", "successor"} {
		require.NoError(t, client.Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	for _, name := range []string{"new", "successor"} {
		_, err = client.Create(t.Context(), settings(t, env, name, "2"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	gate.open(true)

	got := map[string][]deploy.EventType{}
	for deadline := time.After(patience); len(got) < 4 || len(got["successor"]) < 2; {
		select {
		case event := <-events:
			got[event.New.GetName()] = append(got[event.New.GetName()], event.Type)
		case <-deadline:
			t.Fatalf("only %v", got)
		}
	}
	assert.Positive(t, gate.forgotten)
	assert.Equal(t, []deploy.EventType{deploy.Modified}, got["changed"])
	assert.Equal(t, []deploy.EventType{deploy.Added}, got["new"])
	assert.Empty(t, got["same"], "deploy W15: nothing is told twice")
	t.Run("deploy W15: a deletion in the gap of a 410 is told", func(t *testing.T) {
		assert.Equal(t, []deploy.EventType{deploy.Deleted}, got["deleted"])
		live, err := c.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "deleted"})
		require.NoError(t, err)
		assert.Nil(t, live)
	})
	t.Run("deploy W15: an object of the same name is another one", func(t *testing.T) {
		assert.Equal(t, []deploy.EventType{deploy.Deleted, deploy.Added}, got["successor"])
		live, err := c.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "successor"})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"a": "2"}, live.Object["data"])
	})
	t.Run("deploy W15: the watch goes on", func(t *testing.T) {
		gate.open(false)
		edit(t, client, "same", `{"data":{"a":"3"}}`)
		for deadline := time.After(patience); ; {
			select {
			case event := <-events:
				if event.New.GetName() == "same" {
					assert.Equal(t, deploy.Modified, event.Type)
					return
				}
			case <-deadline:
				t.Fatal("no event")
			}
		}
	})
}

// Our own writes are seen while the watch is broken, and afterwards too.
func TestOwnWritesWhileTheWatchIsBroken(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	config, gate := gated(env.Config)
	c := newCluster(t, config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	m := must(deploy.NewManager(c))
	created := apply(t, m, settings(t, env, "settings", "1"))
	other := apply(t, m, settings(t, env, "other", "1"))
	gate.cut()
	changed := apply(t, m, settings(t, env, "settings", "2"))
	require.NoError(t, c.Port().Delete(t.Context(), other.Ref, deploy.DeleteOptions{}))
	reads := func() {
		live, err := c.View().Get(t.Context(), created.Ref)
		require.NoError(t, err)
		sameState(t, changed.Object, live)
		live, err = c.View().Get(t.Context(), other.Ref)
		require.NoError(t, err)
		assert.Nil(t, live)
		listed, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
		require.NoError(t, err)
		for _, obj := range listed {
			assert.NotEqual(t, "other", obj.GetName())
		}
	}
	reads()
	gate.open(true)
	observer, ok := c.View().(cluster.Observer)
	require.True(t, ok)
	require.NoError(t, observer.Observed(t.Context(), created.Ref, changed.Object.GetResourceVersion()))
	reads()
}

func TestObserved(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	config, gate := gated(env.Config)
	c := newCluster(t, config, cluster.Namespaces(env.Namespace))
	observer, ok := c.View().(cluster.Observer)
	require.True(t, ok)
	client := others(t, env, configMap)
	ref := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "settings"}
	soon := func(t *testing.T) context.Context {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	require.NoError(t, observer.Observed(soon(t), ref, "99999999999"), "what isn't watched is read live")
	watch(t, c, configMap)
	for range 20 {
		live, err := client.Create(t.Context(), settings(t, env, "settings", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, observer.Observed(t.Context(), ref, live.GetResourceVersion()))
		seen, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, live.GetUID(), seen.GetUID())
		require.NoError(t, client.Delete(t.Context(), "settings", metav1.DeleteOptions{}))
		marker, err := client.Create(t.Context(), settings(t, env, "marker", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Delete(t.Context(), "marker", metav1.DeleteOptions{}))
		require.NoError(t, observer.Observed(t.Context(), ref, marker.GetResourceVersion()), "a version of another object of the kind")
		seen, err = c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		require.Nil(t, seen)
	}
	t.Run("no version", func(t *testing.T) {
		require.ErrorContains(t, observer.Observed(t.Context(), ref, "x"), "ConfigMap "+env.Namespace+"/settings")
	})
	t.Run("a version that doesn't come", func(t *testing.T) {
		err := observer.Observed(soon(t), ref, "99999999999")
		var late *deploy.TimeoutError
		require.ErrorAs(t, err, &late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Contains(t, late.Reason, "99999999999")
	})
	t.Run("why it doesn't come", func(t *testing.T) {
		gate.cut()
		require.Eventually(t, func() bool {
			err := observer.Observed(soon(t), ref, "99999999999")
			return err != nil && strings.Contains(err.Error(), errShut.Error())
		}, patience, time.Millisecond)
	})
	t.Run("the caller's end", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cancel(enough)
		require.ErrorIs(t, observer.Observed(ctx, ref, "99999999999"), enough)
	})
}
