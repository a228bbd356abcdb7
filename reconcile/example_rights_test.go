package reconcile_test

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
)

func ExampleReconciler_Rights() {
	var reconciler watch.RightsProvider = must(reconcile.New(Shop{}, must(deploy.NewManager(emptyCluster()))))
	for _, right := range reconciler.Rights() {
		fmt.Println(right.Kind.Kind+"/"+right.Subresource, strings.Join(right.Verbs, ", "))
	}
	// Output:
	// Shop/ get, list, watch, patch
	// Shop/finalizers update
	// Shop/status patch
}
