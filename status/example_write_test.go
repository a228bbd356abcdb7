package status_test

import (
	"context"
	"encoding/json"
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

// ShopStatus is the status of a kind whose schema knows what is written by an Application, and a field of its own.
type ShopStatus struct {
	status.Fields `json:",inline"`
	Sign          string `json:"sign,omitempty"`
}

// A program that reads the status of such a kind has it as a type.
func ExampleFields() {
	const written = `{
		"sign": "open", "operatorVersion": "7.0.0",
		"componentStatus": {
			"deployed": "2/3", "verified": "1/3",
			"unstartedComponents": [{"name": "backup", "reason": "waits for web"}],
			"componentMessages": [{"name": "web", "message": "no node has room"}]},
		"versions": {"reconciled": "1.0.0", "available": {"versions": [{"name": "1.0.0"}, {"name": "1.1.0"}]}}
	}`
	var shop ShopStatus
	if err := json.Unmarshal([]byte(written), &shop); err != nil {
		fmt.Println(err)
		return
	}
	var components *status.ComponentFields = shop.ComponentStatus
	fmt.Println(components.Verified, "verified")
	for _, one := range components.UnstartedComponents {
		fmt.Println(one.Name, one.Reason)
	}
	for _, one := range components.ComponentMessages {
		fmt.Println(one.Name, one.Message)
	}
	fmt.Println(shop.Versions.Reconciled, "of", shop.Versions.Available.Versions)
	// Output:
	// 1/3 verified
	// backup waits for web
	// web no node has room
	// 1.0.0 of [{1.0.0} {1.1.0}]
}

func ExampleValues() {
	var values status.Values
	fmt.Println(values.Set("database.endpoint", "db.shop.svc:5432"))
	fmt.Println(values.Set("conditions", nil))
	next, changed, err := status.Application{Values: values}.Update(noon, map[string]any{"database": map[string]any{"size": int64(3)}})
	fmt.Println(next["database"], changed, err)
	// Output:
	// <nil>
	// status field conditions: invalid path: conditions is written by operkit itself: choose another field
	// map[endpoint:db.shop.svc:5432 size:3] true <nil>
}

func ExampleValues_Set() {
	type endpoint struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	var values status.Values
	fmt.Println(values.Set("endpoint", endpoint{"db", 5432}), values.Set("former", nil))
	next, _, err := status.Application{Values: values}.Update(noon, map[string]any{"former": "yes"})
	fmt.Println(next["endpoint"], next["former"], err)
	// Output:
	// <nil> <nil>
	// map[host:db port:5432] <nil> <nil>
}

func ExampleValues_Clone() {
	var values status.Values
	fmt.Println(values.Set("a", 1))
	clone := values.Clone()
	fmt.Println(values.Set("b", 2), clone.Paths(), values.Paths())
	// Output:
	// <nil>
	// <nil> [a] [a b]
}

func ExampleValues_Paths() {
	var values status.Values
	fmt.Println(values.Set("endpoint.port", 5432), values.Set("endpoint", "db:5432"), values.Paths())
	// Output: <nil> <nil> [endpoint]
}
