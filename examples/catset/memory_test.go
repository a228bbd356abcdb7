package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const set = "CatSet nginx"

// inMemory returns the sample in a cluster in memory, which knows the definition of its kind.
func inMemory(t *testing.T, before ...any) *reconciletest.Harness {
	t.Helper()
	h := reconciletest.Drive(t, CatSets(), reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
	h.Apply(append(before, sample(t))...)
	h.RunUntilSettled()
	return h
}

func sample(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	return string(content)
}

// edit sets a field of the spec, such as template.spec.priority.
func edit(h *reconciletest.Harness, path string, value any) {
	h.Edit(set, func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(obj.Object, value, append([]string{"spec"}, strings.Split(path, ".")...)...)
	})
}

// roll changes the template.
func roll(h *reconciletest.Harness, release string) {
	edit(h, "template.metadata.annotations", map[string]any{"release": release})
}

// writes returns the writes of the last run, without those of the status.
func writes(h *reconciletest.Harness) (all []string) {
	for _, call := range h.Calls() {
		if call.Write() && call.Subresource == "" {
			all = append(all, fmt.Sprintf("%s %s %s", call.Action, call.Ref.Kind.Kind, call.Ref.Name))
		}
	}
	return all
}

// counts returns the numbers in the status, and the condition.
func counts(h *reconciletest.Harness) string {
	status, _ := h.Get(set).Object["status"].(map[string]any)
	return fmt.Sprint(status["replicas"], " ready ", status["ready"], " updated ", status["updated"], " ", h.Condition(set, "Ready").Reason)
}

func TestCatSetLifeInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	created := writes(h)
	require.Len(t, created, 8)
	assert.Equal(t, "configured CatSet nginx", created[0])
	rounds := [][]string{ // of one round any is the first
		{"created Service nginx", "created PersistentVolumeClaim data-nginx-0", "created Pod nginx-0"},
		{"created PersistentVolumeClaim data-nginx-1", "created Pod nginx-1"},
		{"created PersistentVolumeClaim data-nginx-2", "created Pod nginx-2"},
	}
	created = created[1:]
	for _, round := range rounds {
		assert.ElementsMatch(t, round, created[:len(round)])
		created = created[len(round):]
	}
	assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
	h.RunUntilSettled()
	h.Writes(0)

	edit(h, "replicas", int64(5))
	h.RunUntilSettled()
	h.Created("Pod nginx-3", "Pod nginx-4")
	assert.Equal(t, "5 ready 5 updated 5 Complete", counts(h))

	edit(h, "replicas", int64(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"deleted Pod nginx-4", "deleted Pod nginx-3", "deleted Pod nginx-2"}, writes(h))
	h.Exists("PersistentVolumeClaim data-nginx-4")

	roll(h, "two")
	h.RunUntilSettled()
	assert.Equal(t, []string{"deleted Pod nginx-1", "created Pod nginx-1", "deleted Pod nginx-0", "created Pod nginx-0"}, writes(h))
	assert.Equal(t, "two", h.Get("Pod nginx-0").GetAnnotations()["release"])

	edit(h, "replicas", int64(3))
	h.RunUntilSettled()
	h.Created("Pod nginx-2")
	edit(h, "storage", "2Gi")
	h.RunUntilSettled()
	assert.Empty(t, writes(h), "claims are never changed")

	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)

	h.Delete(set)
	h.RunUntilSettled()
	assert.Equal(t, []string{"deleted Pod nginx-2", "deleted Pod nginx-1", "deleted Pod nginx-0", "configured CatSet nginx"}, writes(h))
	h.Gone(set, "Service nginx", "PersistentVolumeClaim data-nginx-0", "PersistentVolumeClaim data-nginx-4")
}

// A Pod with the new template that doesn't become ready stops the roll, whoever runs it, until it is ready or has
// another template.
func TestCatSetStopsInMemory(t *testing.T) {
	t.Parallel()
	const stopped = "waiting for nginx-2; 2 of 3 Pods ready, 1 updated"
	for _, row := range []struct {
		reason string
		mend   func(h *reconciletest.Harness)
		want   []string
	}{
		{"it becomes ready", func(*reconciletest.Harness) {}, []string{
			"deleted Pod nginx-1", "created Pod nginx-1", "deleted Pod nginx-0", "created Pod nginx-0"}},
		{"it gets another template", func(h *reconciletest.Harness) { roll(h, "three") }, []string{
			"deleted Pod nginx-2", "created Pod nginx-2", "deleted Pod nginx-1", "created Pod nginx-1", "deleted Pod nginx-0", "created Pod nginx-0"}},
		{"it gets the one before", func(h *reconciletest.Harness) {
			h.Edit(set, func(obj *unstructured.Unstructured) {
				unstructured.RemoveNestedField(obj.Object, "spec", "template", "metadata", "annotations")
			})
		}, []string{"deleted Pod nginx-2", "created Pod nginx-2"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := inMemory(t)
			h.Hold("Pod nginx-2")
			roll(h, "two")
			h.RunUntilSettled()
			assert.Equal(t, []string{"deleted Pod nginx-2", "created Pod nginx-2"}, writes(h))
			for range 2 {
				assert.Equal(t, "3 ready 2 updated 1 Progressing", counts(h))
				assert.Equal(t, stopped, h.Condition(set, "Ready").Message)
				h.Restart()
				h.Advance(24 * time.Hour)
				h.Writes(0)
			}
			row.mend(h)
			h.Release("Pod nginx-2")
			h.RunUntilSettled()
			assert.Equal(t, row.want, writes(h))
			assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
		})
	}
}

// A Pod that isn't ready while nothing is rolled stops a roll, too, but it is rolled itself.
func TestCatSetRollsTheUnreadyFirstInMemory(t *testing.T) {
	t.Parallel()
	h := inMemory(t)
	h.Hold("Pod nginx-0")
	h.SetStatus("Pod nginx-0", map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}})
	h.RunUntilSettled()
	assert.Equal(t, "3 ready 2 updated 3 Progressing", counts(h))
	roll(h, "two")
	h.RunUntilSettled()
	assert.Equal(t, []string{"deleted Pod nginx-0", "created Pod nginx-0"}, writes(h), "it still isn't ready")
	h.Release("Pod nginx-0")
	h.RunUntilSettled()
	assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
}

func TestCatSetMendsInMemory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		harm   func(h *reconciletest.Harness)
		want   []string
	}{
		{"a Pod is deleted", func(h *reconciletest.Harness) { h.Delete("Pod nginx-1") }, []string{"created Pod nginx-1"}},
		{"a Pod is evicted", func(h *reconciletest.Harness) {
			h.Hold("Pod nginx-1")
			h.SetStatus("Pod nginx-1", map[string]any{"phase": "Failed", "reason": "Evicted"})
			h.Release("Pod nginx-1")
		}, []string{"deleted Pod nginx-1", "created Pod nginx-1"}},
		{"a Pod is evicted, and the template changes", func(h *reconciletest.Harness) {
			h.Hold("Pod nginx-1")
			h.SetStatus("Pod nginx-1", map[string]any{"phase": "Failed", "reason": "Evicted"})
			h.Release("Pod nginx-1")
			roll(h, "two")
		}, []string{"deleted Pod nginx-1", "created Pod nginx-1", "deleted Pod nginx-2", "created Pod nginx-2", "deleted Pod nginx-0", "created Pod nginx-0"}},
		{"a label of a Pod is changed", func(h *reconciletest.Harness) {
			h.Edit("Pod nginx-1", func(pod *unstructured.Unstructured) { pod.SetLabels(map[string]string{"app": "other"}) })
		}, []string{"configured Pod nginx-1"}},
		{"the Service is changed", func(h *reconciletest.Harness) {
			h.Edit("Service nginx", func(service *unstructured.Unstructured) {
				_ = unstructured.SetNestedStringMap(service.Object, map[string]string{"app": "other"}, "spec", "selector")
			})
		}, []string{"configured Service nginx"}},
		{"a claim is deleted", func(h *reconciletest.Harness) { h.Delete("PersistentVolumeClaim data-nginx-1") }, []string{
			"created PersistentVolumeClaim data-nginx-1"}},
		{"a label of a claim is changed, which may be", func(h *reconciletest.Harness) {
			h.Edit("PersistentVolumeClaim data-nginx-1", func(claim *unstructured.Unstructured) { claim.SetLabels(map[string]string{"a": "b"}) })
		}, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := inMemory(t)
			row.harm(h)
			h.RunUntilSettled()
			assert.Equal(t, row.want, writes(h))
			assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
		})
	}
}

// The objects of somebody else are left alone.
func TestCatSetTakesNothingInMemory(t *testing.T) {
	t.Parallel()
	const theirs = "{apiVersion: v1, kind: Service, metadata: {name: nginx}, spec: {ports: [{port: 80}]}}"
	h := inMemory(t, theirs)
	h.Advance(10 * time.Minute)
	ready := h.Condition(set, "Ready")
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Contains(t, ready.Message, "Service default/nginx: exists already and was not created for this owner")
	h.Delete("Service nginx")
	h.Advance(2 * time.Minute)
	assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
}
