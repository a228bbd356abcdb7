package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// chapter is a part of the life of a set.
type chapter struct {
	name  string
	begin func(h *reconciletest.Harness)
	// writes is the number of writes in memory; on a real API server there are at least as many.
	writes int
}

// create is the first chapter of each life, and remove the last one.
func create(sample string) chapter {
	return chapter{"create", func(h *reconciletest.Harness) { h.Apply(sample) }, 12}
}

var remove = chapter{"remove", func(h *reconciletest.Harness) { h.Delete(set) }, 4}

// lived lives through chapters. before is called at the beginning of each. It returns the state at the end of each
// chapter, and the writes in it.
func lived(h *reconciletest.Harness, chapters []chapter, before func(n int)) (states []string, writes [][]string) {
	for n, chapter := range chapters {
		before(n)
		chapter.begin(h)
		runUntilOver(h)
		var sent []string
		for _, call := range h.Calls() {
			if call.Write() {
				sent = append(sent, call.String())
			}
		}
		states, writes = append(states, stateOf(h)), append(writes, sent)
	}
	return states, writes
}

// runUntilOver is RunUntilSettled. A real cluster may need longer for a Pod than it takes to look quiet.
func runUntilOver(h *reconciletest.Harness) {
	h.RunUntilSettled()
	for deadline := time.Now().Add(time.Minute); h.Real() && !isOver(h) && time.Now().Before(deadline); {
		h.RunUntilSettled()
	}
}

// isOver reports whether nothing is left to do: the set is complete, or gone.
func isOver(h *reconciletest.Harness) bool {
	obj := h.Get(set)
	if obj == nil {
		return true
	}
	ready, _ := status.Conditions(obj).Get("Ready")
	return ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == obj.GetGeneration()
}

// stateOf returns all that there is of a set as YAML, without what is different in each life.
func stateOf(h *reconciletest.Harness) (state string) {
	for _, name := range []string{set, "Service nginx", "Pod nginx-0", "Pod nginx-1", "Pod nginx-2",
		"PersistentVolumeClaim data-nginx-0", "PersistentVolumeClaim data-nginx-1", "PersistentVolumeClaim data-nginx-2"} {
		if obj := h.Get(name); obj != nil {
			state += timeless(obj)
		}
	}
	return state
}

// random is the name of a volume that the cluster adds to each Pod.
var random = regexp.MustCompile("kube-api-access-[a-z0-9]+")

// timeless returns an object as YAML, without its times and versions, and what else differs between namespaces.
func timeless(live *unstructured.Unstructured) string {
	content := live.DeepCopy().Object
	for _, path := range []string{"metadata.resourceVersion", "metadata.creationTimestamp", "metadata.managedFields", "metadata.uid",
		"metadata.namespace", "metadata.ownerReferences", "metadata.annotations", "spec.volumeName"} {
		unstructured.RemoveNestedField(content, strings.Split(path, ".")...)
	}
	if live.GetKind() != v1.CatSetKind.Kind {
		delete(content, "status")
	}
	conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
	for _, condition := range conditions {
		delete(condition.(map[string]any), "lastTransitionTime")
	}
	if len(conditions) > 0 {
		content["status"].(map[string]any)["conditions"] = conditions
	}
	text, _ := yaml.Marshal(content)
	return "---\n" + random.ReplaceAllString(string(text), "kube-api-access")
}

// The operator is killed before and after each of its writes, and started again. Each life ends as the undisturbed one.
func TestCatSetKilledInMemory(t *testing.T) {
	t.Parallel()
	newLife := func(t *testing.T) *reconciletest.Harness {
		return reconciletest.Drive(t, CatSets(), reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))
	}
	chapters := []chapter{
		create(sample(t)),
		{"roll, which stops", func(h *reconciletest.Harness) { h.Hold("Pod nginx-2"); roll(h, "two") }, 3},
		{"mend", func(h *reconciletest.Harness) { h.Release("Pod nginx-2") }, 7},
		{"scale down", func(h *reconciletest.Harness) { edit(h, "replicas", int64(1)) }, 3},
		{"scale up", func(h *reconciletest.Harness) { edit(h, "replicas", int64(2)) }, 3},
		remove,
	}
	states, writes := lived(newLife(t), chapters, func(int) {})
	assert.Empty(t, states[len(states)-1])
	for n, chapter := range chapters {
		assert.Len(t, writes[n], chapter.writes, chapter.name)
		t.Logf("SOAK catset: in memory: %s: killed at each of %d writes, before and after it", chapter.name, chapter.writes)
		for at := 1; at <= chapter.writes; at++ {
			for _, arrives := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, which arrives: %t", chapter.name, at, arrives), func(t *testing.T) {
					t.Parallel()
					h := newLife(t)
					got, sent := lived(h, chapters[:n+1], killing(h, n, at, arrives))
					assert.Equal(t, states[:n+1], got)
					assert.LessOrEqual(t, len(sent[n]), chapter.writes+1, "no more than the write of the kill is repeated")
					h.RunUntilSettled()
					h.Writes(0)
				})
			}
		}
	}
}

// killing returns a function that kills the operator at a write of a chapter.
func killing(h *reconciletest.Harness, chapter, at int, arrives bool) func(n int) {
	return func(n int) {
		if n == chapter {
			h.Kill(at, arrives)
		}
	}
}

// TestCatSetKilled does it on a real API server: at some writes of a roll, and at each write that surely comes by make
// soak.
func TestCatSetKilled(t *testing.T) {
	t.Parallel()
	newLife := func(t *testing.T) (*reconciletest.Harness, []chapter) {
		h, namespace := onAPIServer(t, CatSets())
		return h, []chapter{
			create(strings.Replace(sample(t), "namespace: default", "namespace: "+namespace, 1)),
			{"roll", func(h *reconciletest.Harness) { roll(h, "two") }, 7},
			remove,
		}
	}
	undisturbed, chapters := newLife(t)
	states, _ := lived(undisturbed, chapters, func(int) {})
	for n, chapter := range chapters {
		for at := 1; at <= chapter.writes; at++ {
			if os.Getenv("OPERKIT_SOAK") == "" && (chapter.name != "roll" || at > 3) {
				continue
			}
			for _, arrives := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, write %d, which arrives: %t", chapter.name, at, arrives), func(t *testing.T) {
					t.Parallel()
					h, chapters := newLife(t)
					got, _ := lived(h, chapters[:n+1], killing(h, n, at, arrives))
					assert.Equal(t, states[:n+1], got)
					h.RunUntilSettled()
					h.Writes(0)
				})
			}
		}
	}
}
