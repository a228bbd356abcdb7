package watch_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lamps is a reconciler that says which rights it needs.
type lamps struct{}

var lampKind = schema.GroupVersionKind{Group: "home.example.dev", Version: "v1", Kind: "Lamp"}

func (lamps) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

func (lamps) Rights() []deploy.Right {
	return []deploy.Right{
		{Kind: lampKind, Verbs: []string{"get", "list", "watch"}},
		{Kind: lampKind, Subresource: "status", Verbs: []string{"patch"}},
	}
}

func ExampleRightsProvider() {
	var reconciler watch.Reconciler = lamps{}
	if provider, ok := reconciler.(watch.RightsProvider); ok {
		for _, right := range provider.Rights() {
			fmt.Println(right.Kind.Kind, right.Subresource, right.Verbs)
		}
	}
	// Output:
	// Lamp  [get list watch]
	// Lamp status [patch]
}
