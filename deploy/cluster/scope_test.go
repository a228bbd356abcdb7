package cluster_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// teams are namespaces that a test makes beside its own.
type teams struct {
	t      *testing.T
	prefix string
	client dynamic.Interface
	api    *cluster.Cluster
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func newTeams(t *testing.T, env *envtest.Env) *teams {
	t.Helper()
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	return &teams{t, env.Namespace, client, newCluster(t, env.Admin)}
}

func (w *teams) name(team string) string { return w.prefix + "-" + team }

// create makes the namespace of a team, with one ConfigMap.
func (w *teams) create(team string, labels map[string]string) {
	w.t.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetName(w.name(team))
	namespace.SetLabels(labels)
	_, err := w.client.Resource(namespaces).Create(w.t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { w.remove(team) })
	w.put(team, "settings")
}

func (w *teams) put(team, name string) {
	w.t.Helper()
	obj := object(w.t, w.name(team), "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}")
	_, err := w.api.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "team"})
	require.NoError(w.t, err)
}

func (w *teams) label(team, body string) {
	w.t.Helper()
	_, err := w.client.Resource(namespaces).Patch(w.t.Context(), w.name(team), types.MergePatchType, []byte(`{"metadata":{"labels":`+body+`}}`), metav1.PatchOptions{})
	require.NoError(w.t, err)
}

func (w *teams) remove(team string) {
	_ = w.client.Resource(namespaces).Delete(context.WithoutCancel(w.t.Context()), w.name(team), metav1.DeleteOptions{})
}

// event is one of a team's ConfigMap.
func (w *teams) event(kind, team, name string) string { return kind + " " + w.name(team) + "/" + name }

func (w *teams) ref(team string) deploy.Ref {
	return deploy.Ref{Kind: configMap, Namespace: w.name(team), Name: "settings"}
}

func TestNamespacesAreFollowed(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newTeams(t, env)
	w.create("a", map[string]string{"tier": "prod"})
	w.create("b", nil)
	w.create("x-1", map[string]string{"tier": "prod"})
	reader := env.User(t, "reader", everything)
	c := newCluster(t, reader.Config, cluster.Namespaces(w.prefix+"-*", "!"+w.prefix+"-x-*"),
		cluster.NamespaceSelector(labels.SelectorFromSet(labels.Set{"tier": "prod"})))
	var events told
	ours := func(event deploy.Event) {
		if event.New.GetName() != "kube-root-ca.crt" { // everywhere by itself
			events.handle(event)
		}
	}
	subscription, err := c.View().Subscribe(t.Context(), configMap, ours)
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	assert.Equal(t, []string{w.event("ADDED", "a", "settings")}, events.all(), "demand 19: by pattern and label")
	events.take(t, w.event("ADDED", "a", "settings"))

	w.label("b", `{"tier":"prod"}`)
	events.take(t, w.event("ADDED", "b", "settings"))
	w.put("b", "more")
	events.take(t, w.event("ADDED", "b", "more"))
	w.label("b", `{"tier":"test"}`)
	events.take(t, w.event("LEFT", "b", "settings"), w.event("LEFT", "b", "more"))
	w.put("b", "unseen")
	obj, err := c.View().Get(t.Context(), w.ref("b"))
	require.NoError(t, err)
	assert.NotNil(t, obj, "it is there, as a live read says")
	w.label("b", `{"tier":"prod"}`)
	events.take(t, w.event("ADDED", "b", "settings"), w.event("ADDED", "b", "more"), w.event("ADDED", "b", "unseen"))

	w.create("c", map[string]string{"tier": "prod"})
	events.take(t, w.event("ADDED", "c", "settings"))
	w.label("x-1", `{"size":"large"}`)
	w.label("c", `{"size":"large"}`)
	time.Sleep(500 * time.Millisecond)
	assert.Empty(t, events.all(), "what isn't meant changes nothing")

	mark := env.Mark(t)
	obj, err = c.View().Get(t.Context(), w.ref("c"))
	require.NoError(t, err)
	assert.NotNil(t, obj)
	assert.Empty(t, env.CallsSince(t, mark, reader).Reads(), "what is in scope is read from memory")

	w.remove("c")
	// Kubernetes empties it in its own time, after those of tests that have ended.
	events.takeWithin(t, 4*patience, w.event("DELETED", "c", "settings"))
	require.Eventually(t, func() bool {
		obj, err := c.View().Get(t.Context(), w.ref("c"))
		return err == nil && obj == nil
	}, patience, 10*time.Millisecond)
}

func TestNamespacesWithoutRights(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	var said lines
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace+"*"), cluster.Logger(slog.New(slog.NewTextHandler(&said, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); c.Wait() })
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
	require.NoError(t, err)
	var forbidden *deploy.ForbiddenError
	err = subscription.Synced(t.Context())
	require.ErrorAs(t, err, &forbidden)
	assert.ErrorContains(t, err, "find the namespaces in scope: ")
	assert.Equal(t, "namespaces", forbidden.Resource.Resource)
	assert.Equal(t, 1, said.count("watch failed"))

	named := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, named, configMap) // names alone need no such right
	_, err = cluster.New(t.Context(), env.Config, cluster.Namespaces("team-["))
	assert.ErrorContains(t, err, `namespace "team-[": neither a name nor a pattern: use something like team-*`)
}

// What the API server doesn't select by is an error of whoever reads the kind, not a wait without an end.
func TestSelectedByWhatIsNoField(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	var said lines
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(&said, nil))),
		cluster.Selected(configMap.GroupKind(), nil, fields.OneTermEqualSelector("data.color", "red")))
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
	require.NoError(t, err)
	for _, row := range []struct {
		reason string
		read   func(ctx context.Context) error
	}{
		{"who waits for what there is", subscription.Synced},
		{"who reads one", func(ctx context.Context) error {
			_, err := c.View().Get(ctx, deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "red"})
			return err
		}},
		{"who lists", func(ctx context.Context) error {
			_, err := c.View().List(ctx, configMap, env.Namespace, nil)
			return err
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := row.read(ctx)
		cancel()
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid, row.reason)
		assert.ErrorContains(t, err, "data.color", row.reason)
	}
	time.Sleep(time.Second) // it is tried again
	assert.Equal(t, 1, said.count("watch failed"), "it is said once: %s", &said)
}

func TestSelected(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	for _, name := range []string{"red", "blue"} {
		apply(t, must(deploy.NewManager(newCluster(t, env.Config))), object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", labels: {color: "+name+"}}}"))
	}
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.Selected(configMap.GroupKind(), labels.SelectorFromSet(labels.Set{"color": "red"}), fields.Everything()))
	var events told
	subscription, err := c.View().Subscribe(t.Context(), configMap, events.handle)
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	events.take(t, "ADDED "+env.Namespace+"/red")
	edit(t, others(t, env, configMap), "blue", `{"metadata":{"labels":{"color":"red"}}}`)
	events.take(t, "ADDED "+env.Namespace+"/blue")
	edit(t, others(t, env, configMap), "blue", `{"metadata":{"labels":{"color":"blue"}}}`)
	events.take(t, "LEFT "+env.Namespace+"/blue")
	listed, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	assert.Equal(t, "red", listed[0].GetName(), "demand 22: the API server is asked for no others")
	blue, err := c.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "blue"})
	require.NoError(t, err)
	assert.NotNil(t, blue, "what isn't selected is there all the same")

	made := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: green}}")
	var invalid *deploy.InvalidManifestError
	_, err = c.Port().Create(t.Context(), made, deploy.CreateOptions{FieldManager: "m"})
	require.ErrorAs(t, err, &invalid, "it would never be seen again")
	_, err = c.Port().Apply(t.Context(), made, deploy.ApplyOptions{FieldManager: "m"})
	require.ErrorAs(t, err, &invalid)
	require.NoError(t, c.Port().Delete(t.Context(), deploy.RefOf(listed[0]), deploy.DeleteOptions{}))
	events.take(t, "DELETED "+env.Namespace+"/red")
}
