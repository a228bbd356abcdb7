package dryrun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recorder keeps what a subscription was told.
type recorder struct {
	mu     sync.Mutex
	events []deploy.Event
}

func (r *recorder) handle(event deploy.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *recorder) all() []deploy.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *recorder) seen() []string {
	var lines []string
	for _, event := range r.all() {
		lines = append(lines, fmt.Sprintf("%s %s %s", event.Type, event.New.GetName(), event.New.GetResourceVersion()))
	}
	return lines
}

// wait returns the events once there are n of them, and fails when there are more. It doesn't wait for more: who wants to know
// that there are none has the last of the n come of a later write.
func (r *recorder) wait(t testing.TB, n int) []string {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.all()) >= n }, 10*time.Second, time.Millisecond, "events: %v", r.seen())
	lines := r.seen()
	require.Len(t, lines, n)
	return lines
}

// record subscribes until the test ends.
func record(t testing.TB, cluster *dryrun.Cluster, kind schema.GroupVersionKind) *recorder {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{}
	subscription, err := cluster.View().Subscribe(ctx, kind, r.handle)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		cluster.Wait()
	})
	require.NoError(t, subscription.Synced(t.Context()))
	return r
}

func TestList(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.Objects(
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop, labels: {app: web}}}"),
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, labels: {app: db}}}"),
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: bank}}"),
		object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"),
	))
	for name, test := range map[string]struct {
		kind      schema.GroupVersionKind
		namespace string
		selector  string
		want      []string
	}{
		"deploy W21: no namespace means all of them": {configMap, "", "", []string{"bank/c", "shop/a", "shop/b"}},
		"one namespace":      {configMap, "shop", "", []string{"shop/a", "shop/b"}},
		"deploy 35: a label": {configMap, "", "app=web", []string{"shop/b"}},
		"deploy 35: != matches objects without the label": {configMap, "", "app!=web", []string{"bank/c", "shop/a"}},
		"deploy W22: spaces in a set":                     {configMap, "", "app in (web, db)", []string{"shop/a", "shop/b"}},
		"deploy 29: cluster-scoped objects":               {namespace, "", "", []string{"/shop"}},
		"a kind without objects":                          {deployment, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selector, err := labels.Parse(test.selector)
			require.NoError(t, err)
			objects, err := cluster.View().List(t.Context(), test.kind, test.namespace, selector)
			require.NoError(t, err)
			var names []string
			for _, obj := range objects {
				names = append(names, obj.GetNamespace()+"/"+obj.GetName())
			}
			assert.Equal(t, test.want, names)
		})
	}
	t.Run("deploy 35: no selector matches all", func(t *testing.T) {
		t.Parallel()
		objects, err := cluster.View().List(t.Context(), configMap, "", nil)
		require.NoError(t, err)
		assert.Len(t, objects, 3)
	})
}

func TestReadsAreCopies(t *testing.T) {
	t.Parallel()
	manifest := settings(t, "{a: '1'}")
	kept := manifest.DeepCopy()
	cluster := newCluster(t, dryrun.Objects(manifest))
	ref := deploy.RefOf(manifest)
	assert.Equal(t, kept, manifest, "deploy W11: a seed isn't changed")

	events := record(t, cluster, configMap)
	events.wait(t, 1)
	listed, err := cluster.View().List(t.Context(), configMap, "", nil)
	require.NoError(t, err)
	live, err := cluster.Port().Get(t.Context(), ref)
	require.NoError(t, err)
	same := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
	want := get(t, cluster, ref)
	for _, obj := range []map[string]any{
		manifest.Object, listed[0].Object, live.Object, same.Object, events.all()[0].New.Object, cluster.Objects()[0].Object,
	} {
		obj["data"].(map[string]any)["a"] = "changed"
	}
	assert.Equal(t, want, get(t, cluster, ref), "deploy W11: nobody holds a part of the cluster")
}

func TestApplyCopiesItsInput(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	manifest := settings(t, "{a: '1'}")
	kept := manifest.DeepCopy()
	apply(t, cluster, "operkit", manifest)
	assert.Equal(t, kept, manifest, "deploy W11: inputs aren't changed")
	manifest.Object["data"].(map[string]any)["a"] = "2"
	assert.Equal(t, map[string]string{"a": "1"}, data(get(t, cluster, deploy.RefOf(manifest))))
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	ref := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}

	t.Run("deploy 36: existing objects first, then what happens", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(settings(t, "{a: '1'}"), object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")))
		events := record(t, cluster, configMap)
		assert.Equal(t, []string{"ADDED settings 1"}, events.seen(), "synced means handed over; other kinds are none of its business")
		apply(t, cluster, "operkit", settings(t, "{a: '1', b: '1'}"))
		require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{}))
		assert.Equal(t, []string{"ADDED settings 1", "MODIFIED settings 3", "DELETED settings 4"}, events.wait(t, 3))
		all := events.all()
		assert.Nil(t, all[0].Old)
		assert.Equal(t, map[string]string{"a": "1"}, data(all[1].Old))
		assert.Equal(t, map[string]string{"a": "1", "b": "1"}, data(all[1].New))
		assert.Equal(t, all[2].Old, all[2].New, "the last known state")
		assert.Equal(t, map[string]string{"a": "1", "b": "1"}, data(all[2].New))
	})
	t.Run("deploy W19: a status is an event", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(cart(t, "{}")))
		events := record(t, cluster, cartRef.Kind)
		_, err := cluster.Port().Patch(t.Context(), cartRef, statusPatch(`{"status":{"ready":true}}`))
		require.NoError(t, err)
		assert.Equal(t, []string{"ADDED c 1", "MODIFIED c 2"}, events.wait(t, 2))
	})
	t.Run("deploy W18: a write that changes nothing is no event", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "operkit", settings(t, "{}"))
		events := record(t, cluster, configMap)
		apply(t, cluster, "operkit", settings(t, "{}"))
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.Equal(t, []string{"ADDED settings 1", "MODIFIED settings 2"}, events.wait(t, 2))
	})
	t.Run("in the version that was asked for, once it is there", func(t *testing.T) {
		t.Parallel()
		newer := schema.GroupVersionKind{Group: "shop.example.com", Version: "v2", Kind: "Cart"}
		cluster := newCluster(t)
		events := record(t, cluster, newer)
		apply(t, cluster, "operkit", cart(t, "{size: 1}"))
		assert.Nil(t, get(t, cluster, deploy.Ref{Kind: newer, Namespace: "shop", Name: "c"}), "nobody has told of this version")
		next := cart(t, "{size: 2}")
		next.SetAPIVersion("shop.example.com/v2")
		apply(t, cluster, "operkit", next)
		assert.Equal(t, []string{"ADDED c 1", "MODIFIED c 2"}, events.wait(t, 2))
		assert.Equal(t, newer, events.all()[0].New.GroupVersionKind())
	})
	t.Run("deploy W23: it ends with its context", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		events := &recorder{}
		_, err := cluster.View().Subscribe(ctx, configMap, events.handle)
		require.NoError(t, err)
		cancel(errors.New("enough"))
		cluster.Wait()
		apply(t, cluster, "operkit", settings(t, "{}"))
		assert.Empty(t, events.seen())
	})
	t.Run("Synced ends with either context, and says why", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(settings(t, "{}")))
		ctx, cancel := context.WithCancelCause(t.Context())
		release := make(chan struct{})
		subscription, err := cluster.View().Subscribe(ctx, configMap, func(deploy.Event) { <-release })
		require.NoError(t, err)
		impatient, stop := context.WithCancelCause(t.Context())
		stop(errors.New("impatient"))
		require.EqualError(t, subscription.Synced(impatient), "impatient")
		cancel(errors.New("enough"))
		require.EqualError(t, subscription.Synced(t.Context()), "enough")
		close(release)
		cluster.Wait()
	})
	t.Run("a handler may read and write", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := cluster.View().Subscribe(ctx, configMap, func(event deploy.Event) {
			if event.Type == deploy.Added {
				done <- cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: event.New.GetUID()})
			}
		})
		require.NoError(t, err)
		apply(t, cluster, "operkit", settings(t, "{}"))
		require.NoError(t, <-done)
		cancel()
		cluster.Wait()
	})
}

func TestEndedContexts(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.Objects(settings(t, "{}")))
	before := cluster.Objects()
	ref := deploy.RefOf(before[0])
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	for name, call := range map[string]func() error{
		"Scope": func() error { _, err := cluster.Port().Scope(ctx, configMap); return err },
		"Get":   func() error { _, err := cluster.Port().Get(ctx, ref); return err },
		"Apply": func() error {
			_, err := cluster.Port().Apply(ctx, settings(t, "{a: '1'}"), deploy.ApplyOptions{FieldManager: "m"})
			return err
		},
		"Patch":     func() error { _, err := cluster.Port().Patch(ctx, ref, statusPatch(`{"status":{"a":1}}`)); return err },
		"Delete":    func() error { return cluster.Port().Delete(ctx, ref, deploy.DeleteOptions{}) },
		"View.Get":  func() error { _, err := cluster.View().Get(ctx, ref); return err },
		"List":      func() error { _, err := cluster.View().List(ctx, configMap, "", nil); return err },
		"Subscribe": func() error { _, err := cluster.View().Subscribe(ctx, configMap, func(deploy.Event) {}); return err },
	} {
		err := call()
		var unavailable *deploy.UnavailableError
		require.NotErrorAs(t, err, &unavailable, "%s: to try again is no use", name)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, reason, name)
	}
	assert.Equal(t, before, cluster.Objects())
}
