package main

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// memoryChapter is a part of a claim's life in memory.
type memoryChapter struct {
	name  string
	begin func(h *reconciletest.Harness)
	lasts time.Duration
}

// memoryLife returns the life of a claim in memory.
func memoryLife(sample, note string) []memoryChapter {
	relabel := func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"app": "hello", "zone": "a"}) }
	return []memoryChapter{
		{"create", func(h *reconciletest.Harness) { h.Apply(user, sample) }, time.Minute},
		{"grow", func(h *reconciletest.Harness) { edit(h, "size", "2Gi") }, time.Minute},
		{"relabel", func(h *reconciletest.Harness) { h.Edit(claim, relabel) }, time.Minute},
		{"restart", (*reconciletest.Harness).Restart, time.Minute},
		{"incompressible spec", func(h *reconciletest.Harness) { edit(h, "note", note) }, time.Minute},
		{"grow without a record", func(h *reconciletest.Harness) { edit(h, "size", "3Gi") }, time.Minute},
		{"delete", func(h *reconciletest.Harness) { h.Delete(claim) }, 15 * time.Second},
		{"free", func(h *reconciletest.Harness) { h.Delete("Pod web") }, time.Minute},
		{"expire", func(h *reconciletest.Harness) { h.Apply(sample) }, 3 * time.Hour},
	}
}

// livedInMemory lives the whole life in a bubble, in which the daemon sleeps in simulated time. before is called at the
// beginning of each chapter. It returns the state at the end of each chapter, and the number of writes in it.
func livedInMemory(t *testing.T, life []memoryChapter, before func(n int, h *reconciletest.Harness)) (states []string, writes []int) {
	synctest.Test(t, func(t *testing.T) {
		h := reconciletest.Drive(t, Claims(), reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
		for n, chapter := range life {
			before(n, h)
			chapter.begin(h)
			h.Advance(chapter.lasts)
			sent := 0
			for _, call := range h.Calls() {
				if call.Write() {
					sent++
				}
			}
			states, writes = append(states, memoryState(h)), append(writes, sent)
		}
	})
	return states, writes
}

// memoryState returns the claim and its PVC, without what is different in each life.
func memoryState(h *reconciletest.Harness) (state string) {
	for _, name := range []string{claim, "PersistentVolumeClaim hello"} {
		if obj := h.Get(name); obj != nil {
			state += timeless(obj)
		}
	}
	return state
}

// timeless returns an object as text, without its versions and times. Handlers of Resume are called again after a kill,
// so a condition may be about a later generation.
func timeless(live *unstructured.Unstructured) string {
	obj := live.DeepCopy()
	for _, field := range []string{"resourceVersion", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, condition := range conditions {
		delete(condition.(map[string]any), "lastTransitionTime")
		delete(condition.(map[string]any), "observedGeneration")
	}
	if obj.GetKind() == v1.EphemeralVolumeClaimKind.Kind && len(conditions) > 0 {
		obj.Object["status"].(map[string]any)["conditions"] = conditions
	}
	return fmt.Sprintln(obj.Object)
}

// TestFromKopfKilledInMemory kills the operator before and after its writes, and compares what comes of it with an
// undisturbed life. By default it kills at some writes of each chapter, and `make soak` at each.
func TestFromKopfKilledInMemory(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	life := memoryLife(string(sample), noise(300<<10))
	states, writes := livedInMemory(t, life, func(int, *reconciletest.Harness) {})
	for n, want := range []int{6, 4, 5, 0, 1, 4, 2, 1, 9} {
		assert.Equal(t, want, writes[n], life[n].name)
	}
	assert.NotContains(t, states[5], `"cycle"`, "the record is complete")
	assert.Empty(t, states[7])
	assert.Empty(t, states[8])
	each := 3
	if os.Getenv("OPERKIT_SOAK") != "" {
		each = 1
	}
	for n, chapter := range life {
		t.Logf("SOAK from-kopf: in memory: %s: killed at each %d. of %d writes, before and after it", chapter.name, each, writes[n])
		for at := 1; at <= writes[n]; at += each {
			for _, arrives := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, which arrives: %t", chapter.name, at, arrives), func(t *testing.T) {
					got, sent := livedInMemory(t, life[:n+1], func(this int, h *reconciletest.Harness) {
						if this == n {
							h.Kill(at, arrives)
						}
					})
					assert.Equal(t, states[:n+1], got)
					assert.LessOrEqual(t, sent[n], writes[n]+3, "the write of the kill, and the progress and condition of Resume")
				})
			}
		}
	}
}
