package main

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	claim  = "EphemeralVolumeClaim hello"
	theirs = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: hello, labels: {owner: them}}, " +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}}"
	user = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: web}], " +
		"volumes: [{name: data, persistentVolumeClaim: {claimName: hello}}]}}"
)

// inMemory has the sample in a cluster in memory, which knows the definition of its kind.
func inMemory(t *testing.T, before ...any) *reconciletest.Harness {
	t.Helper()
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	h := reconciletest.Drive(t, Claims(), reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
	h.Apply(append(before, string(sample))...)
	h.RunUntilSettled()
	return h
}

// edit sets a field of the spec.
func edit(h *reconciletest.Harness, field string, value any) {
	h.Edit(claim, func(obj *unstructured.Unstructured) { obj.Object["spec"].(map[string]any)[field] = value })
}

// calls returns the calls of the last run.
func calls(h *reconciletest.Harness) (all []string) {
	for _, call := range h.Calls() {
		all = append(all, call.String())
	}
	return all
}

func storage(t *testing.T, h *reconciletest.Harness) string {
	t.Helper()
	size, _, err := unstructured.NestedString(h.Get("PersistentVolumeClaim hello").Object, "spec", "resources", "requests", "storage")
	require.NoError(t, err)
	return size
}

// The calls are those of the README.
func TestFromKopfLifeInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	const metadata, status = "configured EphemeralVolumeClaim default/hello", "configured EphemeralVolumeClaim default/hello status"
	const volume = "configured PersistentVolumeClaim default/hello"
	assert.Equal(t, []string{
		metadata, "created PersistentVolumeClaim default/hello", volume, status, metadata,
	}, calls(h), "the finalizer, the PVC, its labels, the condition, the record")
	assert.Equal(t, map[string]string{"app": "hello", "owner": "me"}, h.Get("PersistentVolumeClaim hello").GetLabels())
	assert.Equal(t, metav1.ConditionTrue, h.Condition(claim, "Claimed").Status)

	h.RunUntilSettled()
	h.Writes(0)

	edit(h, "size", "2Gi")
	h.RunUntilSettled()
	assert.Equal(t, []string{volume, status, metadata}, calls(h))
	assert.Equal(t, "2Gi", storage(t, h))

	h.Edit(claim, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"app": "hello", "zone": "a"}) })
	h.RunUntilSettled()
	assert.Equal(t, []string{volume, metadata, volume, metadata, metadata}, calls(h), "each step is stored")
	assert.Equal(t, map[string]string{"app": "hello", "zone": "a"}, h.Get("PersistentVolumeClaim hello").GetLabels())

	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)

	h.Delete(claim)
	h.RunUntilSettled()
	assert.Equal(t, []string{metadata}, calls(h), "the finalizer; the cluster deletes the PVC")
	h.Gone(claim, "PersistentVolumeClaim hello")
}

func TestFromKopfExpiresInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Advance(2*time.Hour - 2*time.Minute)
	h.Writes(0)
	h.Advance(3 * time.Minute)
	h.Gone(claim, "PersistentVolumeClaim hello")
}

func TestFromKopfStaysWithoutATTLInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Edit(claim, func(obj *unstructured.Unstructured) { delete(obj.Object["spec"].(map[string]any), "ttl") })
	h.Advance(1000 * time.Hour)
	h.Exists(claim)
}

// What was deleted while the operator didn't run is made again, with its labels.
func TestFromKopfMendsAtARestartInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Delete("PersistentVolumeClaim hello")
	h.Restart()
	h.RunUntilSettled()
	h.Created("PersistentVolumeClaim hello")
	assert.Equal(t, map[string]string{"app": "hello", "owner": "me"}, h.Get("PersistentVolumeClaim hello").GetLabels())
}

func TestFromKopfWaitsForPodsInMemory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		end    func(h *reconciletest.Harness)
		after  time.Duration
	}{
		{"the Pod is deleted", func(h *reconciletest.Harness) { h.Delete("Pod web") }, 11 * time.Second},
		{"the Pod has ended", func(h *reconciletest.Harness) {
			h.Hold("Pod web")
			h.SetStatus("Pod web", map[string]any{"phase": "Succeeded"})
		}, 11 * time.Second},
		{"the hour is over", func(*reconciletest.Harness) {}, time.Hour},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := inMemory(t, user)
			h.Delete(claim)
			h.Advance(time.Minute)
			h.Exists(claim, "PersistentVolumeClaim hello")
			row.end(h)
			h.Advance(row.after)
			h.Gone(claim, "PersistentVolumeClaim hello")
		})
	}
}

// A spec that can't be compressed is too large for the record: the operator knows that it has changed, but not how.
func TestFromKopfLargeSpecInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	edit(h, "note", noise(300<<10))
	h.RunUntilSettled()
	edit(h, "size", "2Gi")
	h.Edit(claim, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"zone": "a"}) })
	h.RunUntilSettled()
	assert.Equal(t, "2Gi", storage(t, h))
	assert.Equal(t, "a", h.Get("PersistentVolumeClaim hello").GetLabels()["zone"])
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	h.Delete(claim)
	h.RunUntilSettled()
	h.Gone(claim, "PersistentVolumeClaim hello")
}

func noise(size int) string {
	content := make([]byte, size*3/4)
	_, _ = rand.Read(content)
	return base64.StdEncoding.EncodeToString(content)
}

func TestFromKopfBadInputInMemory(t *testing.T) {
	t.Parallel()
	t.Run("a smaller size", func(t *testing.T) {
		t.Parallel()
		h := inMemory(t)
		edit(h, "size", "1Mi")
		h.Advance(time.Minute)
		grown := h.Condition(claim, "Grown")
		assert.Equal(t, "False Error spec.size: a volume can't shrink from 1Gi to 1Mi: set at least the former size",
			string(grown.Status)+" "+grown.Reason+" "+grown.Message)
		assert.Equal(t, "1Gi", storage(t, h))
		h.Restart()
		h.Advance(10 * time.Minute)
		h.Writes(0)
		edit(h, "size", "3Gi")
		h.RunUntilSettled()
		assert.Equal(t, metav1.ConditionTrue, h.Condition(claim, "Grown").Status)
		assert.Equal(t, "3Gi", storage(t, h))
	})
	t.Run("the PVC of somebody else", func(t *testing.T) {
		t.Parallel()
		h := inMemory(t, theirs)
		h.Advance(10 * time.Minute)
		claimed := h.Condition(claim, "Claimed")
		assert.Equal(t, metav1.ConditionFalse, claimed.Status)
		assert.Contains(t, claimed.Message, "PersistentVolumeClaim default/hello: exists already and was not created for this owner")
		assert.Equal(t, "5Gi", storage(t, h))
		assert.Equal(t, map[string]string{"owner": "them"}, h.Get("PersistentVolumeClaim hello").GetLabels())
		h.Delete("PersistentVolumeClaim hello")
		h.Advance(2 * time.Minute)
		assert.Equal(t, "1Gi", storage(t, h))
		h.Delete(claim)
		h.RunUntilSettled()
		h.Gone(claim, "PersistentVolumeClaim hello")
	})
}
