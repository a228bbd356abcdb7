package deploy_test

import (
	"context"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindsPort answers Kinds from a table.
type kindsPort struct {
	*recording
	kinds map[string][]schema.GroupVersionKind
}

func (c kindsPort) Port() deploy.Port { return kindsAnswer{c.recording.Port(), c.kinds} }

type kindsAnswer struct {
	deploy.Port
	kinds map[string][]schema.GroupVersionKind
}

func (p kindsAnswer) Kinds(_ context.Context, name string) ([]schema.GroupVersionKind, error) {
	return p.kinds[name], nil
}

func TestKind(t *testing.T) {
	t.Parallel()
	event := schema.GroupVersionKind{Version: "v1", Kind: "Event"}
	newer := schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
	cluster := kindsPort{newCluster(t), map[string][]schema.GroupVersionKind{
		"Deployment": {deployment}, "deploy": {deployment}, "deployments": {deployment}, "events": {event, newer},
	}}
	m := must(deploy.NewManager(cluster))
	for name, test := range map[string]struct {
		want schema.GroupVersionKind
		says string
	}{
		"Deployment":               {deployment, ""},
		"deploy":                   {deployment, ""},
		"deployments.apps":         {deployment, ""},
		"deployments.v1beta1.apps": {deployment.GroupKind().WithVersion("v1beta1"), ""},
		"events":                   {says: `kind "events" is ambiguous: name the apiVersion of one of Event of v1, Event of events.k8s.io/v1`},
		"events.events.k8s.io":     {newer, ""},
		"events.v1.events.k8s.io":  {newer, ""},
		"events.v1":                {event, ""},
		"deployments.batch":        {says: "kind deployments of batch is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind"},
		"nothing":                  {says: "kind nothing is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind"},
	} {
		kind, err := m.Kind(t.Context(), name)
		assert.Equal(t, test.want, kind, name)
		if test.says != "" {
			require.EqualError(t, err, test.says, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

// A kind that isn't found among what is known may be among the rest.
func TestKindOfAGroupThatIsDown(t *testing.T) {
	t.Parallel()
	m := must(deploy.NewManager(downCluster{newCluster(t)}, deploy.RetryFor(0)))
	_, err := m.Kind(t.Context(), "Widget.down.example.com")
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	kind, err := m.Kind(t.Context(), "Widget.other.example.com")
	require.NoError(t, err)
	assert.Equal(t, schema.GroupVersionKind{Group: "other.example.com", Version: "v1", Kind: "Widget"}, kind)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	t.Run("deploy 28, W23: what comes into a scope by its labels is new to it, what leaves it is gone", testWatchScope)
}

func testWatchScope(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, named(settings(t, "{}"), "other"))
	m := must(deploy.NewManager(cluster))
	var mu sync.Mutex
	var seen []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	note := func(event deploy.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, string(event.Type)+" "+event.New.GetName()+" "+event.New.GetLabels()["tier"])
	}
	subscription, err := m.Watch(ctx, configMap, deploy.WatchScope{Namespace: "shop", Name: "settings", Labels: labels.SelectorFromSet(labels.Set{"tier": "web"})}, note)
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	for _, tier := range []string{"db", "web", "web2", "web", "db"} {
		obj := settings(t, "{}")
		obj.SetLabels(map[string]string{"tier": tier})
		apply(t, m, obj)
	}
	elsewhere := settings(t, "{}")
	elsewhere.SetNamespace("bank")
	elsewhere.SetLabels(map[string]string{"tier": "web"})
	apply(t, m, elsewhere)
	apply(t, m, named(elsewhere, "another"))
	web := settings(t, "{a: '1'}")
	web.SetLabels(map[string]string{"tier": "web"})
	apply(t, m, web)
	_, err = m.Delete(t.Context(), objects(web))
	require.NoError(t, err)
	want := []string{"ADDED settings web", "DELETED settings web", "ADDED settings web", "DELETED settings web", "ADDED settings web", "DELETED settings web"}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) >= len(want)
	}, 10e9, 1e6)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, want, seen)
}

func TestReads(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, settings(t, "{}"), named(settings(t, "{}"), "a"))
	m := must(deploy.NewManager(cluster))
	obj, err := m.Get(t.Context(), settingsRef)
	require.NoError(t, err)
	assert.Equal(t, "settings", obj.GetName())
	absent := settingsRef
	absent.Name = "absent"
	obj, err = m.Get(t.Context(), absent)
	require.NoError(t, err)
	assert.Nil(t, obj, "deploy 2: absent is no failure")
	found, err := m.List(t.Context(), configMap, "shop", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "settings"}, namesOf(found))
	_, err = m.List(t.Context(), schema.GroupVersionKind{Group: "x.example.com", Version: "v1", Kind: "Unknown"}, "", nil)
	var unknown *deploy.KindUnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Empty(t, cluster.take())
}

func namesOf(list []*unstructured.Unstructured) []string {
	var out []string
	for _, obj := range list {
		out = append(out, obj.GetName())
	}
	return out
}
