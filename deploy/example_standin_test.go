package deploy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An expensive manifest is rendered only if the cluster may have to be changed.
func ExampleContents() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.Contents(func(_ context.Context, standIn *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		fmt.Println("made:", deploy.RefOf(standIn), standIn.Object["release"])
		return newConfigMap(standIn.GetName(), "hello"), nil
	})))
	standIn := func(release string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"}, "release": release,
		}}
	}
	for _, release := range []string{"1.0.0", "1.0.0", "1.1.0"} {
		results, err := m.Apply(ctx, []*unstructured.Unstructured{standIn(release)})
		if err != nil {
			log.Fatal(err)
		}
		printChanges(results)
	}
	// Output:
	// made: ConfigMap shop/web 1.0.0
	// ConfigMap shop/web created
	// ConfigMap shop/web unchanged
	// made: ConfigMap shop/web 1.1.0
	// ConfigMap shop/web unchanged
}

func ExampleFingerprint() {
	one, _ := deploy.Fingerprint(map[string]any{"data": map[string]any{"a": "x", "b": "y"}})
	same, _ := deploy.Fingerprint(map[string]any{"data": map[string]any{"b": "y", "a": "x"}})
	other, _ := deploy.Fingerprint(map[string]any{"data": map[string]any{"a": "x"}})
	_, ok := deploy.Fingerprint(map[string]any{"data": []string{"no plain list"}})
	fmt.Println(one == same, one == other, ok)
	// Output: true false false
}
