package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const annotation = "operkit.dev/temporary-patches"

// patch is a temporary patch of the cache.
func patch(name, kind, body string) string {
	return fmt.Sprintf(`{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: %s}, spec: {
		apiVersion: examples.operkit.dev/v1, kind: Cache, name: menu, patchType: %s, patch: %s}}`, name, kind, body)
}

// becomes waits until the Deployment sets another limit, and tells how long that takes: some 50 ms on an idle machine.
func (w *world) becomes(memory, what string, act func()) {
	w.t.Helper()
	begun := time.Now()
	act()
	w.Eventually(what, func() bool { return w.memory() == memory })
	w.t.Logf("%s: %s after %s", what, memory, time.Since(begun).Round(time.Millisecond))
}

// written counts what the operator wrote since the mark but for statuses, which come as things get on.
func (w *world) written(since envtest.Mark) map[string]int {
	w.t.Helper()
	count := map[string]int{}
	for _, call := range w.CallsSince(w.t, since, w.operator).Writes() {
		if call.Subresource != "status" {
			count[call.Verb+" "+call.Resource+"/"+call.Name]++
		}
	}
	return count
}

func TestPatchRaisesTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.CreateFile("config/sample.yaml")
	w.settled()
	require.Equal(t, "64Mi", w.memory())

	mark := w.Mark(t)
	w.becomes("256Mi", "a patch", func() { w.CreateFile("config/patch.yaml") })
	w.settled("more-memory")
	assert.Contains(t, w.Get(caches, "menu").GetAnnotations()[annotation], `"more-memory":{`, "the resource tells by what it is patched")
	matched, _, err := unstructured.NestedStringSlice(w.Get(patches, "more-memory").Object, "status", "matched")
	require.NoError(t, err)
	assert.Equal(t, []string{"store.server"}, matched, "the patch tells what it is applied to")
	assert.Equal(t, "patched store.server", w.condition(patches, "more-memory", temporarypatch.ConditionApplied).Message)
	assert.Equal(t, map[string]int{
		"patch temporarypatches/more-memory": 1, // its finalizer
		"patch caches/menu":                  1, // the annotation
		"patch deployments/menu":             1,
	}, w.written(mark))

	mark = w.Mark(t)
	w.becomes("512Mi", "an edit of the patch", func() {
		w.Merge(patches, "more-memory", `{"spec":{"patch":{"store":{"server":{"spec":{"template":{"spec":{"containers":[
			{"name":"memcached","resources":{"limits":{"memory":"512Mi"}}}]}}}}}}}}`)
	})
	w.settled("more-memory")
	assert.Equal(t, map[string]int{"patch caches/menu": 1, "patch deployments/menu": 1}, w.written(mark))

	mark = w.Mark(t)
	w.becomes("64Mi", "without the patch", func() { w.Delete(patches, "more-memory") })
	w.Eventually("the patch is gone", func() bool { return w.Get(patches, "more-memory") == nil })
	w.settled()
	assert.Equal(t, "{}", w.Get(caches, "menu").GetAnnotations()[annotation], "nothing is recorded any more")
	assert.Equal(t, map[string]int{"patch caches/menu": 1, "patch deployments/menu": 1, "patch temporarypatches/more-memory": 1}, w.written(mark))
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "the rights of config/rbac suffice")
}

func TestSettledPatchCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start()
	w.CreateFile("config/sample.yaml")
	w.CreateFile("config/patch.yaml")
	w.settled("more-memory")
	require.Equal(t, "256Mi", w.memory())

	mark := w.Mark(t)
	for i := range 10 {
		w.Merge(caches, "menu", fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, i))
		w.Merge(patches, "more-memory", fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, i))
		time.Sleep(100 * time.Millisecond)
	}
	assert.Empty(t, w.CallsSince(t, mark, w.operator), "it has looked at both each time, and asked nothing")
	w.Merge(caches, "menu", `{"spec":{"image":"memcached:1.7"}}`)
	w.settled("more-memory")
	assert.Equal(t, map[string]int{"patch deployments/menu": 1}, w.written(mark))
	assert.Equal(t, "256Mi", w.memory(), "the patch holds over a change of the resource")

	first.Kill()
	mark = w.Mark(t)
	w.start()
	w.Eventually("another process has looked at everything", func() bool {
		watches := w.CallsSince(t, mark, w.operator).Watches()
		return len(watches.Of("deployments.apps")) > 0 && len(watches.Of("temporarypatches.operkit.dev")) > 0
	})
	w.settled("more-memory")
	assert.Empty(t, w.written(mark), "and finds it as it should be")
	assert.Equal(t, "256Mi", w.memory())
}

func TestBadPatchFailsItsComponentOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.CreateFile("config/sample.yaml")
	w.CreateYAML(patch("other-port", "strategic", `{door: {service: {spec: {ports: [{port: 11211, name: cache}]}}}}`))
	w.settled("other-port")

	w.CreateYAML(patch("bad", "json", `{store: {server: [{op: replace, path: /spec/paused/really, value: true}]}}`))
	w.Eventually("the condition of the cache names component, object, patch and path", func() bool {
		ready := w.condition(caches, "menu", status.ConditionReady)
		for _, part := range []string{"component store", "object server", "patch bad", "/spec/paused/really"} {
			if !strings.Contains(ready.Message, part) {
				return false
			}
		}
		return ready.Reason == string(status.ReadyConfigError)
	})
	verified, _, err := unstructured.NestedStringSlice(w.Get(caches, "menu").Object, "status", "componentStatus", "verifiedComponents")
	require.NoError(t, err)
	assert.Equal(t, []string{"door"}, verified, "the other component is as it should be")
	w.Eventually("that of the patch says the same", func() bool {
		applied := w.condition(patches, "bad", temporarypatch.ConditionApplied)
		return applied.Reason == temporarypatch.ReasonFailed && strings.Contains(applied.Message, "/spec/paused/really")
	})
	assert.Equal(t, "64Mi", w.memory(), "what can't be rendered stays as it was")

	w.Merge(patches, "other-port", `{"spec":{"patch":{"door":{"service":{"spec":{"ports":[{"port":11211,"name":"renamed"}]}}}}}}`)
	w.Eventually("the other component is patched all the same", func() bool {
		ports, _, err := unstructured.NestedSlice(w.Get(services, "menu").Object, "spec", "ports")
		return err == nil && len(ports) == 1 && ports[0].(map[string]any)["name"] == "renamed"
	})
	w.Eventually("and its patch says so", func() bool {
		return w.condition(patches, "other-port", temporarypatch.ConditionApplied).Status == "True"
	})

	w.Merge(patches, "bad", `{"spec":{"patch":{"store":{"server":[{"op":"add","path":"/spec/minReadySeconds","value":1}]}}}}`)
	w.settled("other-port", "bad")
	seconds, _, err := unstructured.NestedInt64(w.Get(deployments, "menu").Object, "spec", "minReadySeconds")
	require.NoError(t, err)
	assert.Equal(t, int64(1), seconds, "mended, it is applied, without a restart")
}
