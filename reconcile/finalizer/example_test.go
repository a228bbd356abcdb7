package finalizer_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/finalizer"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}

func ExampleNames() {
	fmt.Println(finalizer.Names(shops))
	// Output: [shop.example.dev/finalizer finalizers.shop.example.dev]
}

// shop is a controller with something to clean up.
type shop struct{}

func (shop) Kind() schema.GroupVersionKind                      { return shops }
func (shop) Setup(context.Context, *reconcile.Session) error    { return nil }
func (shop) Finalize(context.Context, *reconcile.Session) error { return nil }

func ExampleProvider() {
	memory, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(shop{}, manager, reconcile.FinalizerName("shops.example.dev/till"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var _ finalizer.Provider = reconciler
	fmt.Println(reconciler.Finalizers())
	// Output: [shops.example.dev/till]
}
