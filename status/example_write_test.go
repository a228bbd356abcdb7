package status_test

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status"
)

func ExamplePatch() {
	before := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "namespace": "ns"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Theirs", "status": "True"}}},
	}
	after := runtime.DeepCopyJSON(before)
	status.Conditions(after).Set(noon, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"})
	patch, err := status.Patch(before, after, status.ServerSideApply, "Ready")
	fmt.Println(err)
	show(patch["status"])
	patch, err = status.Patch(after, after, status.ServerSideApply, "Ready")
	fmt.Println(patch == nil, err)
	// Output:
	// <nil>
	// {
	//   "conditions": [
	//     {
	//       "lastTransitionTime": "2026-05-06T12:00:00Z",
	//       "message": "",
	//       "reason": "Up",
	//       "status": "True",
	//       "type": "Ready"
	//     }
	//   ]
	// } <nil>
	// true <nil>
}

// cluster holds one object. Somebody else writes right after it was first read.
type cluster struct {
	object map[string]any
	reads  int
}

func (c *cluster) get(context.Context) (map[string]any, error) {
	read := runtime.DeepCopyJSON(c.object)
	if c.reads++; c.reads == 1 {
		status.Conditions(c.object).Set(noon, metav1.Condition{Type: "Theirs", Status: metav1.ConditionTrue, Reason: "R"})
		c.object["metadata"] = map[string]any{"resourceVersion": "2"}
	}
	return read, nil
}

func (c *cluster) write(_ context.Context, object map[string]any) error {
	if fmt.Sprint(object["metadata"]) != fmt.Sprint(c.object["metadata"]) {
		return apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "w", errors.New("somebody was faster"))
	}
	c.object = object
	return nil
}

func ExampleWrite() {
	c := &cluster{object: map[string]any{"metadata": map[string]any{"resourceVersion": "1"}}}
	written, err := status.Write(context.Background(), c.get, func(current map[string]any) (map[string]any, bool, error) {
		conditions := status.Conditions(current)
		changed := conditions.Set(noon, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"})
		return current, changed, conditions.Err()
	}, c.write)
	fmt.Println(c.reads, err)
	printConditions(written)
	// Output:
	// 2 <nil>
	// Theirs True R
	// Ready True Up
}

func ExampleApplication_Write() {
	c := &cluster{object: map[string]any{"metadata": map[string]any{"resourceVersion": "1"}}}
	ready, updating := status.ForEnd(nil, true)
	_, err := status.Application{Ready: ready, Updating: updating}.Write(context.Background(), noon, c.get, c.write)
	fmt.Println(c.reads, err)
	printConditions(c.object)
	// Output:
	// 2 <nil>
	// Ready True Stable Verify Complete
	// Updating False Stable Rollout Complete
	// Theirs True R
}
