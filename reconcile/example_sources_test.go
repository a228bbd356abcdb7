package reconcile_test

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	markets     = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Market"}
)

// shopsOf are the shops that a market concerns: the one that its label names.
func shopsOf(event deploy.Event) []deploy.Ref {
	return []deploy.Ref{{Namespace: "market", Name: event.New.GetLabels()["example.dev/shop"]}}
}

// prices asks for the price list of each shop.
func prices(context.Context) (map[deploy.Ref]string, error) {
	return map[deploy.Ref]string{{Namespace: "market", Name: "tea"}: "spring"}, nil
}

// ChoosyShop is a Shop that says what brings it to reconcile.
type ChoosyShop struct{ Shop }

// Sources implements source.Provider.
func (ChoosyShop) Sources() source.Sources {
	return source.Sources{
		When:     filter.Or(filter.Lifecycle(), filter.Generation()),
		Owned:    []source.Owned{{Kind: deployments}},
		Mapped:   []source.Mapped{{Kind: markets, Keys: shopsOf}},
		External: []source.External{source.Poll(time.Minute, prices)},
	}
}

func ExampleReconciler_Sources() {
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(ChoosyShop{}, must(deploy.NewManager(cluster)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reconciler.Sources().Mapped[0].Kind.Kind)
	// Output: Market
}
