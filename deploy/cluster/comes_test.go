package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// told are the events of one subscription.
type told struct {
	mu     sync.Mutex
	events []string
}

func (e *told) handle(event deploy.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, string(event.Type)+" "+event.New.GetNamespace()+"/"+event.New.GetName())
}

func (e *told) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.events)
}

// take waits for the wanted events, in whatever order, and forgets them.
func (e *told) take(t testing.TB, want ...string) {
	t.Helper()
	e.takeWithin(t, patience, want...)
}

func (e *told) takeWithin(t testing.TB, limit time.Duration, want ...string) {
	t.Helper()
	slices.Sort(want)
	require.Eventually(t, func() bool { return len(e.all()) >= len(want) }, limit, 2*time.Millisecond, "waiting for %v, have %v", want, e)
	got := e.all()
	slices.Sort(got)
	require.Equal(t, want, got)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = nil
}

// counter counts the requests of a client, but for what keeps a watch going.
type counter struct {
	next http.RoundTripper

	mu    sync.Mutex
	paths []string
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.paths = append(c.paths, r.URL.Path)
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// during returns the requests of a while.
func (c *counter) during(d time.Duration) []string {
	c.mu.Lock()
	before := len(c.paths)
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paths[before:]
}

// A kind that comes, goes and comes back is found by the watch of definitions: without a restart, and without asking
// again and again.
func TestKindsComeAndGo(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	mover := schema.GroupVersionKind{Group: env.Namespace + ".operkit.dev", Version: "v1", Kind: "Mover"}
	var said lines
	requests := &counter{}
	config := *env.Admin
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { requests.next = next; return requests })
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, &config, cluster.Logger(slog.New(slog.NewTextHandler(&said, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); c.Wait() })
	kinds, ok := c.View().(deploy.KindView)
	require.True(t, ok)

	_, err = c.View().Subscribe(t.Context(), mover, func(deploy.Event) {})
	var unknown *deploy.KindUnknownError
	require.ErrorAs(t, err, &unknown)
	brief, end := context.WithTimeout(t.Context(), time.Second)
	defer end()
	require.ErrorIs(t, kinds.Served(brief, mover), context.DeadlineExceeded)

	served := make(chan error, 1)
	go func() { served <- kinds.Served(t.Context(), mover) }()
	time.Sleep(patience / 5) // the looks become rare
	assert.LessOrEqual(t, len(requests.during(2*time.Second)), 1, "spec watch: who waits for a kind doesn't ask all the time")
	start := time.Now()
	definition(t, env, "Namespaced", "movers")
	require.NoError(t, <-served)
	t.Logf("served %s after its definition was asked for", time.Since(start))

	var events told
	subscription, err := c.View().Subscribe(t.Context(), mover, events.handle)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return subscription.Synced(t.Context()) == nil }, patience, 10*time.Millisecond)
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(mover)
	obj.SetNamespace(env.Namespace)
	obj.SetName("a")
	_, err = c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	name := env.Namespace + "/a"
	events.take(t, "ADDED "+name)

	undefine(t, env, "movers")
	events.take(t, "DELETED "+name)
	require.Eventually(t, func() bool { return said.count("the kind isn't served any more, waiting until it is") == 1 }, patience, 10*time.Millisecond)
	_, err = c.View().Get(t.Context(), deploy.RefOf(obj))
	require.ErrorAs(t, err, &unknown)
	time.Sleep(patience / 5)
	assert.LessOrEqual(t, len(requests.during(2*time.Second)), 1, "its informer has stopped")

	definition(t, env, "Namespaced", "movers")
	t.Cleanup(func() { undefine(t, env, "movers") })
	require.Eventually(t, func() bool {
		_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
		return err == nil
	}, patience, 50*time.Millisecond)
	events.take(t, "ADDED "+name)
	assert.Equal(t, 1, said.count("the kind is served again"))
	assert.Zero(t, said.count("level=ERROR"))
}

// Without the right to watch definitions kinds are found all the same, by asking.
func TestKindsComeWithoutRights(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	mover := schema.GroupVersionKind{Group: env.Namespace + ".operkit.dev", Version: "v1", Kind: "Mover"}
	var said lines
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(&said, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); c.Wait() })
	served := make(chan error, 1)
	mark := env.Mark(t)
	go func() { served <- c.View().(deploy.KindView).Served(t.Context(), mover) }()
	require.Eventually(t, func() bool {
		return said.count(`msg="the kind can't be watched, continuing without a watch" kind=CustomResourceDefinition`) == 1
	}, patience, 10*time.Millisecond)
	time.Sleep(3 * time.Second)
	definition(t, env, "Namespaced", "movers")
	t.Cleanup(func() { undefine(t, env, "movers") })
	require.NoError(t, <-served)
	refused := 0
	for _, call := range env.CallsSince(t, mark) {
		if call.Code == http.StatusForbidden {
			refused++
		}
	}
	assert.LessOrEqual(t, refused, 2, "a watch and a list, and then no more for a while")
	assert.Zero(t, said.count("level=WARN"))
}

// Own reads of a kind that isn't served any more say so.
func TestServedEndsWithTheCluster(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c, end := endingCluster(t, env.Admin)
	served := make(chan error, 1)
	go func() {
		served <- c.View().(deploy.KindView).Served(context.WithoutCancel(t.Context()), schema.GroupVersionKind{Group: "never.operkit.dev", Version: "v1", Kind: "Never"})
	}()
	time.Sleep(100 * time.Millisecond)
	end()
	assert.True(t, errors.Is(<-served, context.Canceled))
}
