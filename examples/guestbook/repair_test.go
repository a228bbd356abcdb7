package main

import (
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestChangedFieldIsRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	mark := w.Mark(t)
	w.Merge(configMaps, "hello-web", `{"data":{"message":"Go away!","note":"added"},"metadata":{"labels":{"team":"red"}}}`)
	w.Eventually("the message is repaired", func() bool { return w.data("message") == "Welcome!" })
	w.settled()

	assert.Equal(t, "added", w.data("note"), "what others add stays: that is server-side apply")
	assert.Equal(t, "red", w.Get(configMaps, "hello-web").GetLabels()["team"])
	assert.Equal(t, map[string]int{"patch configmaps/hello-web": 1}, written(children(w.CallsSince(t, mark, w.operator))))
}

func TestRemovedFieldIsRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	w.Merge(configMaps, "hello-web", `{"data":{"message":null}}`)
	w.Eventually("the message is back", func() bool { return w.data("message") == "Welcome!" })
}

func (w *world) data(key string) string {
	w.t.Helper()
	obj := w.Get(configMaps, "hello-web")
	require.NotNil(w.t, obj)
	value, _, err := unstructured.NestedString(obj.Object, "data", key)
	require.NoError(w.t, err)
	return value
}

func TestDeletedChildrenAreRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	for _, child := range []struct {
		reason string
		delete func()
		back   func() bool
		wrote  string
	}{
		{"an object of a component that nothing waits for", func() { w.Delete(services, "hello-web") },
			func() bool { return w.Get(services, "hello-web") != nil }, "patch services/hello-web"},
		{"a workload", func() { w.Delete(deployments, "hello-web") },
			func() bool { return w.Get(deployments, "hello-web") != nil }, "patch deployments/hello-web"},
		{"a workload that another component waits for", func() { w.Delete(statefulSets, "hello-redis") },
			func() bool { return w.Get(statefulSets, "hello-redis") != nil }, "patch statefulsets/hello-redis"},
	} {
		mark := w.Mark(t)
		child.delete()
		w.Eventually(child.reason, child.back)
		w.settled()
		assert.Equal(t, map[string]int{child.wrote: 1}, written(children(w.CallsSince(t, mark, w.operator))), child.reason)
	}
}

func TestScalerKeepsItsReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	mark := w.Mark(t)
	w.MergeSubresource(deployments, "hello-web", "scale", `{"spec":{"replicas":4}}`)
	w.settled()
	assert.Equal(t, int64(4), w.replicas(), "the scaler decides")
	assert.Empty(t, children(w.CallsSince(t, mark, w.operator)).Writes(), "and nothing is written for it")

	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"image":"guestbook:2"}}`)
	w.settled()
	assert.Equal(t, int64(4), w.replicas(), "also over an apply for another reason")

	// The scaler is gone: managedFields without its entry are what is left of it then.
	web := w.Get(deployments, "hello-web")
	var others []any
	entries, _, err := unstructured.NestedSlice(web.Object, "metadata", "managedFields")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.(map[string]any)["subresource"] != "scale" {
			others = append(others, entry)
		}
	}
	w.Merge(deployments, "hello-web", mustJSON(t, map[string]any{"metadata": map[string]any{"managedFields": others}}))
	w.Eventually("replicas are the guestbook's again", func() bool { return w.replicas() == 2 })
}

func (w *world) replicas() int64 {
	w.t.Helper()
	replicas, _, err := unstructured.NestedInt64(w.Get(deployments, "hello-web").Object, "spec", "replicas")
	require.NoError(w.t, err)
	return replicas
}

func TestRestartOfASettledGuestbookWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start()
	w.create()
	w.settled()
	require.Zero(t, first.Stop(t), "SIGTERM ends it in good order:\n%s", first.Output())
	mark := w.Mark(t)
	second := w.start()
	// The last kinds to be watched are those of web: then everything has been looked at.
	w.Eventually("it has looked at everything", func() bool {
		return len(w.CallsSince(t, mark, w.operator).Watches().Of("deployments.apps")) > 0
	})
	time.Sleep(500 * time.Millisecond)
	require.True(t, second.Running())
	calls := w.CallsSince(t, mark, w.operator)
	assert.Empty(t, calls.Writes(), "writes")
	assert.Empty(t, calls.Reads().Of("guestbooks.examples.operkit.dev"), "reads of the guestbook")
	assert.Empty(t, children(calls).Reads(), "reads of children")
}
