package status_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

func ExampleConditionSet_IsStale() {
	obj := map[string]any{
		"metadata": map[string]any{"generation": int64(2)},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "observedGeneration": int64(1)},
		}},
	}
	conditions := status.Conditions(obj)
	fmt.Println(conditions.IsTrue("Ready"), conditions.IsStale("Ready"))
	// Output: true true
}

func ExampleConditionSet_Reason() {
	list := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Starting"}}
	fmt.Printf("%q %q\n", status.Conditions(&list).Reason("Ready"), status.Conditions(&list).Reason("Painted"))
	// Output: "Starting" ""
}

func ExampleFromBool() {
	var list []metav1.Condition
	free := 3
	status.Conditions(&list).Set(noon, metav1.Condition{Type: "Painted", Status: status.FromBool(free > 0), Reason: "ColoursCounted"})
	fmt.Println(list[0].Status)
	// Output: True
}

func ExampleConditionSet_List() {
	obj := map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "lastTransitionTime": "2026-05-06T11:00:00Z"},
		map[string]any{"type": "Painted", "status": "True"},
		map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-05-06T12:00:00Z"},
	}}}
	for _, c := range status.Conditions(obj).List() {
		fmt.Println(c.Type, c.Status)
	}
	// Output:
	// Ready True
	// Painted True
}

func ExampleConditionSet_Merge() {
	database := []metav1.Condition{
		{Type: "Reachable", Status: metav1.ConditionTrue, Reason: "Pinged", LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))},
		{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"},
	}
	app := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Starting"}}
	fmt.Println(status.Conditions(&app).Merge(noon, status.Conditions(&database), "Reachable"))
	for _, c := range app {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	// Output:
	// true
	// Ready False Starting
	// Reachable True Pinged
}

func ExampleConditionSet_Summary() {
	list := []metav1.Condition{
		{Type: "DatabaseReady", Status: metav1.ConditionTrue, Reason: "Up"},
		{Type: "CacheReady", Status: metav1.ConditionFalse, Reason: "Starting", Message: "1 of 3 replicas are ready"},
	}
	conditions := status.Conditions(&list)
	ready := conditions.Summary("Ready",
		status.Declared{Type: "DatabaseReady"}, status.Declared{Type: "CacheReady"},
		status.Declared{Type: "Degraded", Negative: true},
	)
	conditions.Set(noon, ready)
	fmt.Println(ready.Status, ready.Reason, "-", ready.Message)
	// Output: False Starting - CacheReady: 1 of 3 replicas are ready
}
