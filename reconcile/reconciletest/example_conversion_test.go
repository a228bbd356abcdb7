package reconciletest_test

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type (
	firstShop struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Sign string `json:"sign,omitempty"`
		} `json:"spec"`
	}
	secondShop struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Door string `json:"door,omitempty"`
		} `json:"spec"`
	}
)

// Shop uses v1, and a user v2, in which a field has another name.
func ExampleConversion() {
	group := schema.GroupKind{Group: "example.dev", Kind: "Shop"}
	shops := conversion.New[firstShop](group.WithVersion("v1"))
	conversion.Add(shops, group.WithVersion("v2"), conversion.Functions[secondShop, firstShop]{
		Up:   func(from *secondShop, to *firstShop) error { to.Spec.Sign = from.Spec.Door; return nil },
		Down: func(from *firstShop, to *secondShop) error { to.Spec.Door = from.Spec.Sign; return nil },
	})
	var converter reconciletest.KindConverter = shops
	h := reconciletest.New(console{}, Shop{}, reconciletest.Conversion(converter))
	h.Apply(`
apiVersion: example.dev/v2
kind: Shop
metadata: {name: tea}
spec: {door: open}`)
	h.RunUntilSettled()
	fmt.Println(h.Get("ConfigMap tea-door").Object["data"])
	fmt.Println(h.Get("Shop.v2.example.dev tea").Object["spec"])
	// Output:
	// map[sign:open]
	// map[door:open]
}
