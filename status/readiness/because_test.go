package readiness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status/readiness"
)

func TestBecause(t *testing.T) {
	t.Parallel()
	short := readiness.Result{State: readiness.InProgress, Reason: "LessReady", Message: "0 of 1 replicas are ready"}
	one := func(state readiness.State, kind, name, message string) readiness.Result {
		return readiness.Result{State: state, Message: message, Object: readiness.Object{Kind: kind, Name: name}}
	}
	for _, row := range []struct {
		reason string
		of     readiness.Result
		others []readiness.Result
		want   string
	}{
		{"nothing is known", short, nil, "0 of 1 replicas are ready"},
		{"what is ready hinders nobody", short, []readiness.Result{one(readiness.Ready, "Pod", "a", "fine")}, "0 of 1 replicas are ready"},
		{"a ready workload needs no reason", readiness.Result{State: readiness.Ready, Message: "m"}, []readiness.Result{one(readiness.Failed, "Pod", "a", "bad")}, "m"},
		{
			"the worst comes first", short, []readiness.Result{one(readiness.InProgress, "Pod", "a", "waits"), one(readiness.Failed, "Pod", "b", "crashes")},
			"0 of 1 replicas are ready: Pod b: crashes; Pod a: waits",
		},
		{
			"two are enough", short, []readiness.Result{one(readiness.InProgress, "Pod", "a", "1"), one(readiness.InProgress, "Pod", "b", "2"), one(readiness.InProgress, "Pod", "c", "3")},
			"0 of 1 replicas are ready: Pod a: 1; Pod b: 2",
		},
		{"no message, then the reason", short, []readiness.Result{{State: readiness.Failed, Reason: "Lost", Object: readiness.Object{Kind: "PersistentVolumeClaim", Name: "c"}}}, "0 of 1 replicas are ready: PersistentVolumeClaim c: Lost"},
	} {
		got := row.of.Because(row.others...)
		assert.Equal(t, row.want, got.Message, row.reason)
		got.Message = row.of.Message
		assert.Equal(t, row.of, got, "%s: the rest stays", row.reason)
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	always, never := func(string) bool { return true }, func(string) bool { return false }
	base := readiness.Checker{
		ContainerGrace: time.Minute, WaitsForConsumer: always, BudgetNeedsHealthy: true,
		Registry: readiness.Registry{{Kind: "A"}: {SetsReady: true}, {Kind: "B"}: {SetsReady: true}},
	}
	mine := readiness.Checker{
		ContainerGrace: time.Hour, WaitsForConsumer: never, SuspendedJobReady: true, IngressNeedsAddress: true,
		Registry: readiness.Registry{{Kind: "B"}: {}},
	}
	got := mine.Over(base)
	assert.Equal(t, time.Hour, got.ContainerGrace, "its own settings stay")
	assert.False(t, got.WaitsForConsumer("x"), "its own settings stay")
	assert.True(t, got.SuspendedJobReady && got.IngressNeedsAddress && got.BudgetNeedsHealthy, "each adds up")
	assert.Equal(t, readiness.Registry{{Kind: "A"}: {SetsReady: true}, {Kind: "B"}: {}}, got.Registry)
	assert.Len(t, base.Registry, 2)
	assert.Len(t, mine.Registry, 1, "neither is changed")
	assert.True(t, readiness.Checker{}.Over(base).WaitsForConsumer("x"), "what is left at zero is the base's")
	assert.Equal(t, base.Registry, readiness.Checker{}.Over(base).Registry)
	assert.Equal(t, mine.Registry, mine.Over(readiness.Checker{}).Registry)
}

func ExampleResult_Because() {
	workload := readiness.Result{State: readiness.InProgress, Reason: "LessReady", Message: "0 of 1 replicas are ready"}
	pod := readiness.Of(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web-1"},
		"status": map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{
			"name": "main", "state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff"}},
		}}},
	})
	fmt.Println(workload.Because(pod).Message)
	// Output: 0 of 1 replicas are ready: Pod web-1: container "main" waits: ImagePullBackOff
}

func ExampleChecker_Over() {
	defaults := readiness.Checker{IngressNeedsAddress: true}
	mine := readiness.Checker{SuspendedJobReady: true}
	both := mine.Over(defaults)
	fmt.Println(both.SuspendedJobReady, both.IngressNeedsAddress)
	// Output: true true
}
