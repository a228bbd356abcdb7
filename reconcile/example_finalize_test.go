package reconcile_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Archive is a controller of shops whose books are copied before they go.
type Archive struct{ setup }

// Finalize implements reconcile.Finalizer: the books are copied, and then the landlord gets a letter.
func (Archive) Finalize(_ context.Context, s *reconcile.Session) error {
	books := s.Add("books", copyOf("books"))
	s.Add("letter", configMap("letter")).After(books, reconcile.Ready)
	return nil
}

func copyOf(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "copy-" + name},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "copy", "image": "example.com/copy:1"}},
		}}},
	}}
}

// What Finalize adds is rolled out, and the resource goes when all of it is ready.
func ExampleFinalizer() {
	archive := Archive{func(context.Context, *reconcile.Session) error { return nil }}
	cluster := reconcileOnce(archive)
	ctx := context.Background()
	if err := cluster.Port().Delete(ctx, deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}, deploy.DeleteOptions{}); err != nil {
		fmt.Println(err)
	}
	reconcileAgain(cluster, archive)
	show(cluster)

	job := deploy.Ref{Kind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, Namespace: "market", Name: "copy-books"}
	_, err := cluster.Port().Patch(ctx, job, deploy.PatchRequest{
		Type: types.MergePatchType, Subresource: "status", FieldManager: "cluster",
		Body: []byte(`{"status":{"conditions":[{"type":"Complete","status":"True"}],"succeeded":1}}`),
	})
	if err != nil {
		fmt.Println(err)
	}
	reconcileAgain(cluster, archive)
	fmt.Println("then there are", len(cluster.Objects()), "objects")
	// Output:
	//   Shop tea: Updating VerifyWait, finalize: books: Job copy-books: InProgress (the Job hasn't started yet); letter waits for books (its gate is closed)
	//   Job copy-books
	// then there are 0 objects
}

func ExampleReconciler_Finalizers() {
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(Archive{}, manager)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reconciler.Finalizers())
	// Output: [shop.example.dev/finalizer finalizers.shop.example.dev]
}

func ExampleDescription_Finalize() {
	r := quietReconciler(Archive{func(context.Context, *reconcile.Session) error { return nil }})
	going := shop()
	going.SetFinalizers([]string{"example.dev/archive"})
	going.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-31T18:00:00Z"
	description, err := r.Describe(context.Background(), going, reconcile.Describing{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer description.Release()
	if err := description.Finalize(context.Background()); err != nil {
		fmt.Println(err)
	}
	for _, component := range description.Session().Components() {
		fmt.Println(component.Name())
	}
	// Output:
	// books
	// letter
}
