package cluster_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served are the kinds that a cluster serves, as WatchKinds reports them.
type served struct {
	mu    sync.Mutex
	kinds []deploy.ServedKind
	calls int
}

func (s *served) handle(kinds []deploy.ServedKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds, s.calls = kinds, s.calls+1
}

func (s *served) find(kind schema.GroupVersionKind) (found deploy.ServedKind, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.kinds, func(k deploy.ServedKind) bool { return k.Kind == kind })
	if at < 0 {
		return deploy.ServedKind{}, false
	}
	return s.kinds[at], true
}

func TestWatchKinds(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	mover := schema.GroupVersionKind{Group: env.Namespace + ".operkit.dev", Version: "v1", Kind: "Mover"}
	c := newCluster(t, env.Admin, cluster.Logger(slog.New(slog.DiscardHandler)))
	ctx, cancel := context.WithCancel(t.Context())
	ended, s := make(chan struct{}), &served{}
	go func() {
		defer close(ended)
		c.View().(deploy.KindView).WatchKinds(ctx, s.handle)
	}()
	has := func(kind schema.GroupVersionKind, want bool) {
		t.Helper()
		require.Eventually(t, func() bool { _, is := s.find(kind); return is == want }, patience, 5*time.Millisecond)
	}
	has(deployment, true)
	found, _ := s.find(deployment)
	assert.Equal(t, deploy.ServedKind{
		Kind: deployment, Preferred: true, Resource: "deployments", Names: []string{"deployment", "deploy"}, Categories: []string{"all"},
		Verbs: found.Verbs, Scope: deploy.Namespaced,
	}, found)
	assert.Subset(t, found.Verbs, []string{"list", "watch", "patch"})
	namespace, _ := s.find(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	assert.Equal(t, deploy.ClusterScoped, namespace.Scope)
	_, is := s.find(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
	assert.False(t, is, "a subresource is no kind")

	for range 2 {
		definition(t, env, "Namespaced", "movers")
		has(mover, true)
		found, _ = s.find(mover)
		assert.Equal(t, "movers", found.Resource)
		undefine(t, env, "movers")
		has(mover, false)
	}
	cancel()
	<-ended
}

// The informers of a kind stop after the last subscription, and begin anew with the next one.
func TestLastSubscriptionEnds(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	user := env.User(t, "reader", everything)
	c := newCluster(t, user.Config, cluster.Namespaces(env.Namespace))
	ref := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "a"}
	_, err := c.Port().Apply(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	calls := func(happens func()) map[string]int {
		t.Helper()
		mark := env.Mark(t)
		happens()
		return env.CallsSince(t, mark, user).Count()
	}
	read := func() {
		found, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		require.NotNil(t, found)
		all, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
		require.NoError(t, err)
		require.NotEmpty(t, all)
	}
	for range 3 {
		subscribe := func() context.CancelFunc {
			ctx, cancel := context.WithCancel(t.Context())
			subscription, err := c.View().Subscribe(ctx, configMap, func(deploy.Event) {})
			require.NoError(t, err)
			require.NoError(t, subscription.Synced(t.Context()))
			return cancel
		}
		first, second := subscribe(), subscribe()
		assert.Empty(t, calls(read), "reads come from the informer")
		first()
		time.Sleep(50 * time.Millisecond)
		assert.Empty(t, calls(read), "as long as somebody subscribes")
		second()
		require.Eventually(t, func() bool { return len(calls(read)) > 0 }, patience, 10*time.Millisecond)
		assert.Equal(t, map[string]int{"get configmaps": 1, "list configmaps": 1}, calls(read), "and then from the API server")
		assert.Empty(t, calls(func() { time.Sleep(time.Second) }), "nothing is watched")
		_, err = c.Port().Apply(t.Context(), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), deploy.ApplyOptions{FieldManager: "m"})
		require.NoError(t, err)
	}
}
