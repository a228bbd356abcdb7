package status_test

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

// The time is always passed in.
var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func show(value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	fmt.Println(string(text), err)
}

func ExampleConditions() {
	obj := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget"}}
	conditions := status.Conditions(obj)
	changed := conditions.Set(noon, metav1.Condition{
		Type: "Painted", Status: metav1.ConditionFalse, Reason: "ColourMissing", Message: "spec.colour is empty",
	})
	fmt.Println(changed, conditions.IsFalse("Painted"), conditions.IsUnknown("Ready"), conditions.Err())
	show(obj.Object["status"])
	// Output:
	// true true true <nil>
	// {
	//   "conditions": [
	//     {
	//       "lastTransitionTime": "2026-05-06T12:00:00Z",
	//       "message": "spec.colour is empty",
	//       "reason": "ColourMissing",
	//       "status": "False",
	//       "type": "Painted"
	//     }
	//   ]
	// } <nil>
}

// widget is a typed object; two methods make its conditions accessible.
type widget struct {
	Conditions []metav1.Condition
}

func (w *widget) GetConditions() []metav1.Condition           { return w.Conditions }
func (w *widget) SetConditions(conditions []metav1.Condition) { w.Conditions = conditions }

func ExampleAccessor() {
	w := &widget{}
	painted := metav1.Condition{Type: "Painted", Status: metav1.ConditionTrue, Reason: "Dry"}
	fmt.Println(status.Conditions(w).Set(noon, painted))
	fmt.Println(status.Conditions(w).Set(noon.Add(time.Hour), painted))
	fmt.Println(w.Conditions[0].LastTransitionTime.UTC())
	// Output:
	// true
	// false
	// 2026-05-06 12:00:00 +0000 UTC
}

func ExampleConditionSet_Set() {
	var list []metav1.Condition
	conditions := status.Conditions(&list)
	step := func(after time.Duration, state metav1.ConditionStatus, reason string) {
		conditions.Set(noon.Add(after), metav1.Condition{Type: "Ready", Status: state, Reason: reason})
		fmt.Println(list[0].Status, list[0].Reason, list[0].LastTransitionTime.UTC().Format(time.TimeOnly))
	}
	step(0, metav1.ConditionFalse, "Starting")
	step(time.Minute, metav1.ConditionFalse, "StillStarting")
	step(time.Hour, metav1.ConditionTrue, "Up")
	// Output:
	// False Starting 12:00:00
	// False StillStarting 12:00:00
	// True Up 13:00:00
}

func ExampleConditionSet_Err() {
	conditions := status.Conditions(map[string]any{})
	fmt.Println(conditions.Set(noon, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "all is well"}))
	fmt.Println(conditions.Err())
	// Output:
	// false
	// condition "Ready": invalid reason: "all is well": use a CamelCase word
}

func ExampleConditionSet_Get() {
	obj := map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True", "reason": "Up"},
	}}}
	ready, found := status.Conditions(obj).Get("Ready")
	fmt.Println(ready.Status, ready.Reason, found)
	_, found = status.Conditions(obj).Get("Painted")
	fmt.Println(found)
	// Output:
	// True Up true
	// false
}

func ExampleConditionSet_Remove() {
	list := []metav1.Condition{{Type: "Ready"}, {Type: "Painted"}}
	fmt.Println(status.Conditions(&list).Remove("Painted"), len(list))
	// Output: true 1
}

func ExampleConditionSet_IsTrue() {
	list := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}
	conditions := status.Conditions(&list)
	fmt.Println(conditions.IsTrue("Ready"), conditions.IsTrue("Painted"))
	// Output: true false
}

func ExampleConditionSet_IsFalse() {
	list := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse}}
	conditions := status.Conditions(&list)
	fmt.Println(conditions.IsFalse("Ready"), conditions.IsFalse("Painted"))
	// Output: true false
}

func ExampleConditionSet_IsUnknown() {
	list := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse}}
	conditions := status.Conditions(&list)
	fmt.Println(conditions.IsUnknown("Ready"), conditions.IsUnknown("Painted"))
	// Output: false true
}

func ExampleValidate() {
	fmt.Println(status.Validate(metav1.Condition{Type: "Ready", Status: "Yes", Reason: "Up"}))
	fmt.Println(status.Validate(metav1.Condition{Type: "Ready", Status: "True", Reason: "Up"}))
	// Output:
	// condition "Ready": invalid condition status: "Yes": use True, False or Unknown
	// <nil>
}

func ExampleApplication_Update() {
	current := map[string]any{"conditions": []any{
		map[string]any{"type": "Painted", "status": "True"}, // somebody else's
	}}
	ready, updating := status.ForEnd(current, false)
	next, changed, err := status.Application{
		Ready:      ready,
		Updating:   updating,
		Generation: 1,
		Components: &status.ComponentState{
			Verified: []string{"redis"}, Unverified: []string{"web"},
			Unstarted: map[string]string{"backup": "waits for web"},
		},
	}.Update(noon, current)
	fmt.Println(changed, err)
	for _, c := range next["conditions"].([]any) {
		fmt.Println(c.(map[string]any)["type"], c.(map[string]any)["status"], c.(map[string]any)["reason"])
	}
	components := next["componentStatus"].(map[string]any)
	fmt.Println(components["deployed"], components["verified"], components["unstartedComponents"])
	// Output:
	// true <nil>
	// Ready False InProgress
	// Updating True VerifyWait
	// Reconciling True VerifyWait
	// Painted True <nil>
	// 2/3 1/3 [map[name:backup reason:waits for web]]
}

func ExampleForStart() {
	current := map[string]any{"versions": map[string]any{"reconciled": "1.0"}}
	ready, updating := status.ForStart(current, "2.0")
	fmt.Println(ready.Reason, updating.Reason, updating.Message)
	// Output: InProgress VersionChange Version Change Started: [1.0] -> [2.0]
}

func ExampleForEnd() {
	ready, updating := status.ForEnd(nil, true)
	fmt.Println(ready.Reason, updating.Reason)
	// Output: Stable Stable
}

func ExampleForError() {
	ready, updating := status.ForError(status.ErrorPrecondition, "the database isn't there yet")
	fmt.Println(ready == status.ReadyVerdict{}, updating.Reason, "-", updating.Message)
	// Output: true PreconditionWait - the database isn't there yet
}

func ExampleReconciledVersion() {
	fmt.Println(status.ReconciledVersion(map[string]any{"versions": map[string]any{"reconciled": "1.0"}}))
	// Output: 1.0
}

func ExampleChanged() {
	before := map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-05-06T12:00:00Z"}}}
	after := map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-05-06T13:00:00Z"}}}
	fmt.Println(status.Changed(before, after))
	// Output: false
}

func ExampleReadyReason_Status() {
	fmt.Println(status.ReadyStable.Status(), status.ReadyInitializing.Status())
	// Output: True False
}

func ExampleUpdatingReason_Status() {
	fmt.Println(status.UpdatingStable.Status(), status.UpdatingVerifyWait.Status())
	// Output: False True
}
