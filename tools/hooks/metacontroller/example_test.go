package metacontroller_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A command that doesn't run reads the definitions of a cluster as they are now.
func ExampleControllers_ReadCluster() {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "metacontroller.k8s.io/v1alpha1", "kind": "CompositeController", "metadata": map[string]any{"name": "catsets"},
		"spec": map[string]any{
			"parentResource": map[string]any{"apiVersion": "example.dev/v1", "resource": "catsets"},
			"hooks":          map[string]any{"sync": map[string]any{"webhook": map[string]any{"url": "http://cats"}}},
		},
	}}
	cluster, err := dryrun.New(dryrun.AnyKind(definition.GroupVersionKind().GroupKind()), dryrun.Objects(definition))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Wait()
	var controllers metacontroller.Controllers
	fmt.Println(controllers.ReadCluster(context.Background(), cluster.Port()))
	fmt.Println(controllers.Names())
	// Output:
	// <nil> <nil>
	// [catsets]
}
