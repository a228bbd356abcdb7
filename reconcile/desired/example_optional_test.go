package desired_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/desired"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// keeper has all methods that a Syncer may have.
type keeper struct{}

func (keeper) Sync(desired.Request[CatSet]) (desired.Response, error) {
	return desired.Response{}, nil
}

func (keeper) Finalize(desired.Request[CatSet]) (desired.Response, error) {
	return desired.Response{Finalized: true}, nil
}

func (keeper) Related(context.Context, *CatSet) ([]desired.Selection, error) {
	return []desired.Selection{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Names: []string{"food"}}}, nil
}

func (keeper) Adopts(context.Context, *CatSet) (*metav1.LabelSelector, error) {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"cat": "stray"}}, nil
}

// The kinds of related objects are declared, so that a role can be made that reads them.
func ExampleRelates() {
	var (
		_ desired.Finalizer[CatSet] = keeper{}
		_ desired.Relater[CatSet]   = keeper{}
		_ desired.Adopter[CatSet]   = keeper{}
	)
	c := desired.New[CatSet](catSets, keeper{}, desired.Child(pods, desired.RollingRecreate),
		desired.Relates(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}))
	fmt.Println(c.Kind().Kind)
	// Output: CatSet
}

// A function that asks another program is asked again when it was wrong.
func ExampleExternal() {
	c := desired.New[CatSet](catSets, keeper{}, desired.Child(pods, desired.InPlace), desired.External())
	fmt.Println(c.Kind().Kind)
	// Output: CatSet
}
