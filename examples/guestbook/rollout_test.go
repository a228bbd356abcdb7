package main

import (
	"encoding/base64"
	"testing"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCreatedBecomesReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()

	calls := w.Calls(t, w.operator)
	assert.Equal(t, map[string]int{
		"patch secrets/hello-redis": 1, "patch services/hello-redis": 1, "patch statefulsets/hello-redis": 1,
		"patch configmaps/hello-web": 1, "patch services/hello-web": 1, "patch deployments/hello-web": 1,
	}, written(children(calls)), "each child is written once")
	var order []string
	for _, call := range children(calls).Writes() {
		order = append(order, call.Name)
	}
	assert.Equal(t, []string{"hello-redis", "hello-redis", "hello-redis", "hello-web", "hello-web", "hello-web"}, order,
		"redis before web")
	assert.Empty(t, calls.Failed(), "nothing was refused")
	assert.Empty(t, children(calls).Reads(), "children are read from watches")

	redis := w.Get(statefulSets, "hello-redis")
	web := w.Get(deployments, "hello-web")
	condition, ok := status.Conditions(web).Get("Available")
	require.True(t, ok)
	assert.False(t, condition.LastTransitionTime.Time.Before(redis.GetCreationTimestamp().Time), "web came after redis")
	require.Len(t, web.GetOwnerReferences(), 1)
	assert.Equal(t, w.Get(v1.GuestbookKind, "hello").GetUID(), web.GetOwnerReferences()[0].UID)
}

func TestPasswordIsGeneratedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start()
	w.create()
	w.settled()
	password := w.password()
	assert.Len(t, password, 26, "26 characters of crypto/rand.Text")
	require.Zero(t, first.Stop(t))
	w.start()
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"size":3}}`)
	w.settled()
	assert.Equal(t, password, w.password(), "it is read back, by another process too")
}

func (w *world) password() string {
	w.t.Helper()
	secret := w.Get(secrets, "hello-redis")
	require.NotNil(w.t, secret)
	encoded, _, err := unstructured.NestedString(secret.Object, "data", "password")
	require.NoError(w.t, err)
	password, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(w.t, err)
	return string(password)
}

func TestMessageChangesWhatDependsOnIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	mark := w.Mark(t)
	statuses := w.recordStatuses()
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"message":"Good evening!"}}`)
	w.settled()

	calls := w.CallsSince(t, mark, w.operator)
	assert.Equal(t, map[string]int{"patch configmaps/hello-web": 1, "patch deployments/hello-web": 1},
		written(children(calls)), "the message, and the Pods that read it at their start")
	own := ofGuestbook(calls).Writes()
	w.Eventually("every status was seen", func() bool { return statuses.count() >= len(own) })
	assert.Equal(t, statuses.count(), len(own), "one write for each status that is unlike the one before, none besides:\n%s", own)
}

func TestConfigurationOfACluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	config := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"redis": "{image: registry.example.com/redis:8}"}}}
	config.SetGroupVersionKind(configMaps)
	config.SetName("our-guestbooks")
	w.Apply(config)
	mark := w.Mark(t)
	w.Merge(v1.GuestbookKind, "hello", `{"metadata":{"annotations":{"operkit.dev/config-defaults":"our-guestbooks"}}}`)
	w.Eventually("redis comes from elsewhere", func() bool { return w.redisImage() == "registry.example.com/redis:8" })
	w.settled()
	w.Merge(configMaps, "our-guestbooks", `{"data":{"redis":"{image: registry.example.com/redis:9}"}}`)
	w.Eventually("another content of the ConfigMap holds at once", func() bool { return w.redisImage() == "registry.example.com/redis:9" })
	w.settled()
	w.Merge(v1.GuestbookKind, "hello", `{"metadata":{"annotations":null}}`)
	w.Eventually("redis comes from where the operator says", func() bool { return w.redisImage() == "redis:8" })
	w.settled()
	assert.Equal(t, map[string]int{"patch statefulsets/hello-redis": 3}, written(children(w.CallsSince(t, mark, w.operator))))
}

func (w *world) redisImage() string {
	w.t.Helper()
	containers, _, err := unstructured.NestedSlice(w.Get(statefulSets, "hello-redis").Object, "spec", "template", "spec", "containers")
	require.NoError(w.t, err)
	return containers[0].(map[string]any)["image"].(string)
}

func TestTemporaryPatchFindsObjectsByTheirNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	patch := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"apiVersion": "examples.operkit.dev/v1", "kind": "Guestbook", "name": "hello", "patchType": "strategic",
		"patch": map[string]any{"web": map[string]any{"server": map[string]any{"spec": map[string]any{"replicas": int64(5)}}}},
	}}}
	patch.SetGroupVersionKind(temporaryPatches)
	patch.SetName("more-of-web")
	mark := w.Mark(t)
	w.Apply(patch)
	w.Eventually("web is larger", func() bool { return w.replicas() == 5 })
	w.settled()
	w.Delete(temporaryPatches, "more-of-web")
	w.Eventually("web is as the guestbook says", func() bool { return w.replicas() == 2 })
	w.settled()
	assert.Equal(t, map[string]int{"patch deployments/hello-web": 2}, written(children(w.CallsSince(t, mark, w.operator))))
}

func TestRedisDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	uid := w.Get(deployments, "hello-web").GetUID()
	mark := w.Mark(t)
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"redis":{"enabled":false}}}`)
	w.settled()

	assert.Nil(t, w.Get(statefulSets, "hello-redis"))
	assert.Nil(t, w.Get(services, "hello-redis"))
	assert.Nil(t, w.Get(secrets, "hello-redis"))
	assert.Equal(t, uid, w.Get(deployments, "hello-web").GetUID(), "web is kept")
	assert.Equal(t, map[string]int{
		"delete secrets/hello-redis": 1, "delete services/hello-redis": 1, "delete statefulsets/hello-redis": 1,
		"patch deployments/hello-web": 1,
	}, written(children(w.CallsSince(t, mark, w.operator))))
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.create()
	w.settled()
	mark := w.Mark(t)
	w.Delete(v1.GuestbookKind, "hello")
	w.Eventually("the guestbook is gone", func() bool { return w.Get(v1.GuestbookKind, "hello") == nil })
	w.Eventually("its children are gone", func() bool { return w.noChildren() })

	calls := w.CallsSince(t, mark, w.operator)
	assert.Equal(t, map[string]int{"delete deployments/hello-web": 1}, written(children(calls)),
		"the finalizer takes web down, the cluster collects the rest")
	assert.Equal(t, map[string]int{"patch guestbooks.examples.operkit.dev": 1}, ofGuestbook(calls).Writes().Count(), "the finalizer is removed")
}

func (w *world) noChildren() bool {
	w.t.Helper()
	return w.Get(deployments, "hello-web") == nil && w.Get(configMaps, "hello-web") == nil && w.Get(services, "hello-web") == nil &&
		w.Get(statefulSets, "hello-redis") == nil && w.Get(services, "hello-redis") == nil && w.Get(secrets, "hello-redis") == nil
}

func children(calls audit.Calls) audit.Calls {
	return calls.Of("secrets", "services", "configmaps", "statefulsets.apps", "deployments.apps")
}

func ofGuestbook(calls audit.Calls) audit.Calls { return calls.Of("guestbooks.examples.operkit.dev") }
