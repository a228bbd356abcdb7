package readiness_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

func ExampleRegistry() {
	registry := readiness.Registry{
		{Group: "db.example.com", Kind: "Database"}: {
			Fields: []readiness.Field{{Path: ".status.phase", Ready: []any{"Running"}, Failed: []any{"Broken"}}},
		},
		{Group: "ca.example.com", Kind: "Certificate"}: {Condition: &readiness.Condition{Type: "Issued"}},
		{Group: "example.com", Kind: "Backup"}: {Func: func(now time.Time, object map[string]any) readiness.Result {
			if object["lastRun"] == nil {
				return readiness.Result{State: readiness.InProgress, Reason: "NeverRan", Message: "there was no backup yet"}
			}
			return readiness.Result{State: readiness.Ready, Reason: "Ran", Message: "there is a backup"}
		}},
	}
	checker := readiness.Checker{Registry: registry}
	for _, object := range []map[string]any{
		{"apiVersion": "db.example.com/v1", "kind": "Database", "status": map[string]any{"phase": "Broken"}},
		{"apiVersion": "ca.example.com/v1", "kind": "Certificate"},
		{"apiVersion": "example.com/v1", "kind": "Backup"},
	} {
		result := checker.Of(object)
		fmt.Println(result.Object, result.State, result.Reason, "-", result.Message)
	}
	// Output:
	// Database.db.example.com Failed FieldFailed - status.phase is "Broken"
	// Certificate.ca.example.com InProgress NotIssued - the condition Issued is not True
	// Backup.example.com InProgress NeverRan - there was no backup yet
}

func ExampleRegistry_With() {
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	base := readiness.Registry{}
	widened := base.With(kind, readiness.Expectation{SetsReady: true})
	fmt.Println(len(base), len(widened))
	// Output: 0 1
}

// The resources of other operators whose status an Application writes are ready in the version that is wanted of them.
func ExampleSubsystem() {
	checker := readiness.Checker{Registry: readiness.Registry{
		{Group: "example.com", Kind: "Cache"}: {Subsystem: &readiness.Subsystem{Version: "2.0.0"}},
	}}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		result := checker.Of(map[string]any{"apiVersion": "example.com/v1", "kind": "Cache", "status": map[string]any{
			"conditions": []any{
				map[string]any{"type": "Ready", "status": "True", "reason": "Stable"},
				map[string]any{"type": "Updating", "status": "False", "reason": "Stable"},
			},
			"versions": map[string]any{"reconciled": version},
		}})
		fmt.Println(result.State, result.Reason, result.Message)
	}
	// Output:
	// InProgress VersionDiffers version "1.0.0" is reconciled, "2.0.0" is desired
	// Ready Stable the subsystem is ready
}

func ExampleRegistry_Validate() {
	registry := readiness.Registry{{Group: "example.com", Kind: "Widget"}: {Fields: []readiness.Field{{Path: "status..phase"}}}}
	fmt.Println(registry.Validate())
	// Output: kind Widget.example.com: invalid expectation: path "status..phase": use names with dots between them, as in .status.phase
}

func ExampleChecker_Verify() {
	get := func(_ context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error) {
		if name == "absent" {
			return nil, nil // a NotFound of the API server does as well
		}
		return &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: kind.Kind},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		}, nil
	}
	for _, name := range []string{"settings", "absent"} {
		target := readiness.Target{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: name}
		result, err := readiness.Checker{}.Verify(context.Background(), time.Now(), get, target, "shop")
		fmt.Println(result.Object, result.State, err)
	}
	// Output:
	// ConfigMap shop/settings Ready <nil>
	// ConfigMap shop/absent NotFound <nil>
}

// children are what one application consists of.
func children() []map[string]any {
	return []map[string]any{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "shop"}},
		{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "status": map[string]any{"phase": "Pending"}},
		{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "shop"}, "status": map[string]any{"phase": "Lost"}},
	}
}

func ExampleAll() {
	var results []readiness.Result
	for _, child := range children() {
		results = append(results, readiness.Of(child))
	}
	summary := readiness.All(results...)
	fmt.Println(summary.State, summary.ReadyCount, "of", summary.Total)
	for _, blocker := range summary.Blockers {
		fmt.Println(blocker.Object, blocker.State, "-", blocker.Message)
	}
	// Output:
	// Failed 1 of 3
	// PersistentVolumeClaim shop/data Failed - the volume of the claim is lost
	// Pod shop/web InProgress - the Pod is pending
}

func ExampleSummary_Ready() {
	fmt.Println(readiness.All().Ready(), readiness.All(readiness.Of(nil)).Ready())
	// Output: true false
}

func ExampleObject_String() {
	fmt.Println(readiness.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
	// Output: Deployment.apps shop/web
}
