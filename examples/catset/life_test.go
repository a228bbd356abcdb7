package main

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
)

func TestCatSetLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.Mark(t)
	w.CreateFile("config/sample.yaml")
	w.complete("3 ready 3 updated 3")
	created := w.writes(start)
	assert.Equal(t, []string{"patch pod nginx-0", "patch pod nginx-1", "patch pod nginx-2"}, slices.DeleteFunc(slices.Clone(created), func(write string) bool {
		return !strings.Contains(write, " pod ")
	}))
	assert.Len(t, created, 8, "the finalizer, the Service, the claims and the Pods, each once")

	mark := w.Mark(t)
	w.edit(`{"spec":{"template":{"metadata":{"annotations":{"release":"two"}}}}}`)
	w.complete("3 ready 3 updated 3")
	assert.Equal(t, []string{"delete pod nginx-2", "patch pod nginx-2", "delete pod nginx-1", "patch pod nginx-1",
		"delete pod nginx-0", "patch pod nginx-0"}, w.writes(mark), "one after the other")

	mark = w.Mark(t)
	w.MergeSubresource(v1.CatSetKind, "nginx", "scale", `{"spec":{"replicas":1}}`)
	w.complete("1 ready 1 updated 1")
	assert.Equal(t, []string{"delete pod nginx-2", "delete pod nginx-1"}, w.writes(mark))
	w.MergeSubresource(v1.CatSetKind, "nginx", "scale", `{"spec":{"replicas":2}}`)
	w.complete("2 ready 2 updated 2")

	w.process.Stop(t)
	mark = w.Mark(t)
	w.start()
	w.Eventually("the operator works again", func() bool { return len(w.CallsSince(t, mark, w.operator).Of(counted[0]).Watches()) > 0 })
	w.AwaitQuiet(t, w.operator)
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Of(counted...).Writes(), "a restart writes nothing")

	mark = w.Mark(t)
	w.Delete(v1.CatSetKind, "nginx")
	w.gone(v1.CatSetKind, "nginx")
	w.gone(claimKind, "data-nginx-2")
	w.gone(serviceKind, "nginx")
	assert.Equal(t, []string{"delete pod nginx-1", "delete pod nginx-0", "patch catset nginx"}, w.writes(mark), "the last one first")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "its rights suffice")
}

// A Pod that no node takes stops the roll, also when the operator is started again, until there is a template that a
// node takes.
func TestCatSetStops(t *testing.T) {
	t.Parallel()
	const stopped = "waiting for nginx-2; 2 of 3 Pods ready, 1 updated"
	w := completeWorld(t)
	mark := w.Mark(t)
	w.edit(`{"spec":{"template":{"spec":{"nodeSelector":{"disk":"none"}}}}}`)
	w.stops(stopped)
	assert.Equal(t, []string{"delete pod nginx-2", "patch pod nginx-2"}, w.writes(mark))

	w.process.Kill()
	mark = w.Mark(t)
	w.start()
	w.Eventually("the operator works again", func() bool { return len(w.CallsSince(t, mark, w.operator).Of(counted[0]).Watches()) > 0 })
	w.stops(stopped)
	assert.Empty(t, w.CallsSince(t, mark, w.operator).Of(counted...).Writes())

	w.edit(`{"spec":{"template":{"spec":{"nodeSelector":{"disk":null},"priority":0}}}}`)
	w.complete("3 ready 3 updated 3")
	assert.Equal(t, []string{"delete pod nginx-2", "patch pod nginx-2", "delete pod nginx-1", "patch pod nginx-1",
		"delete pod nginx-0", "patch pod nginx-0"}, w.writes(mark))
}

// What the API server refuses is in the status, and no Pod is deleted for it.
func TestCatSetBadInput(t *testing.T) {
	t.Parallel()
	w := completeWorld(t)
	mark := w.Mark(t)
	w.edit(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:1.28","imagePullPolicy":"Sometimes"}]}}}}`)
	w.Eventually("the status says so", func() bool {
		_, ready := w.counts()
		return ready.Reason == "Error"
	})
	_, ready := w.counts()
	assert.Contains(t, ready.Message, "imagePullPolicy")
	for _, write := range w.writes(mark) {
		assert.NotContains(t, write, "delete")
	}
	w.Eventually("an event says so, too", func() bool {
		return w.CallsSince(t, mark, w.operator).Count()["create events.events.k8s.io"] > 0
	})
	w.edit(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"nginx:1.29"}]}}}}`)
	w.complete("3 ready 3 updated 3")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden().Filter(func(call audit.Call) bool { return !call.DryRun }), "its rights suffice")
}
