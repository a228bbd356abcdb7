package main

import (
	"net/http"
	"os"
	"testing"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// inMemory has the sample in a cluster in memory, which knows the definition of its kind.
func inMemory(t *testing.T) *reconciletest.Harness {
	t.Helper()
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	h := reconciletest.New(t, Guestbook{}, reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
	h.Apply(string(sample))
	return h
}

// In milliseconds, without a control plane: what is made, and what a change costs.
func TestRolloutInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	h.Created("Secret hello-redis", "StatefulSet hello-redis", "ConfigMap hello-web", "Deployment hello-web")
	h.Ready("Guestbook hello")

	h.RunUntilSettled()
	h.Writes(0) // a settled guestbook costs nothing

	h.Edit("Guestbook hello", func(book *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(book.Object, "Hi!", "spec", "message"))
	})
	h.RunUntilSettled()
	h.Configured("ConfigMap hello-web", "Deployment hello-web")
	h.Ready("Guestbook hello")
}

// What waits is told by name, and is made once it needn't wait any more.
func TestWebWaitsForRedisInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Hold("StatefulSet hello-redis")
	h.RunUntilSettled()
	h.Gone("Deployment hello-web")
	assert.Contains(t, h.Condition("Guestbook hello", status.ConditionReady).Message, "web waits for redis")
	waiting, err := yaml.Marshal(map[string]any{"status": h.Get("Guestbook hello").Object["status"]})
	require.NoError(t, err)
	shown, err := os.ReadFile("testdata/waiting.yaml")
	require.NoError(t, err)
	assert.YAMLEq(t, string(shown), string(waiting))

	h.Release("StatefulSet hello-redis")
	h.RunUntilSettled()
	h.Created("Deployment hello-web")
	h.Ready("Guestbook hello")
}

// An API server that refuses is no end: the reconcile is tried again, later each time.
func TestRefusedInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	require.NoError(t, h.Memory().Fail(dryrun.Fault{Kind: deployments, Code: http.StatusServiceUnavailable, Count: 3}))
	h.RunUntilSettled()
	h.Ready("Guestbook hello")
	attempts := 0
	for _, run := range h.Runs() {
		attempts = max(attempts, run.Attempt)
	}
	assert.Equal(t, 3, attempts)
}

// Everything that is rendered, in a file, so that a change of it is seen in the review. `go test . -run Golden -update`
// writes it.
func TestGoldenInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Golden("Guestbook hello", "sample")
}

// After a disaster the resource is another one of its name. The password comes from a backup, without its owner.
func TestRestoredInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.RunUntilSettled()
	backup := h.Get("Secret hello-redis").DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(backup.Object, "metadata", field)
	}

	h = inMemory(t)
	h.Apply(backup)
	h.RunUntilSettled()
	h.Ready("Guestbook hello")
	restored := h.Get("Secret hello-redis")
	assert.Equal(t, backup.Object["data"], restored.Object["data"])
	assert.Len(t, restored.GetOwnerReferences(), 1, "it is owned again")
}
