package standing_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lamps reconciles one lamp, and counts it.
type lamps struct{ standing standing.Standing }

func (l *lamps) Reconcile(context.Context, request.Request) (result request.Result, err error) {
	lamp := &metav1.ObjectMeta{Name: "hall"}
	defer func() { l.standing = standing.After(lamp, true, err) }()
	return result, errors.New("no such bulb")
}

// Tally implements standing.Provider.
func (l *lamps) Tally() standing.Tally {
	return standing.Tally{Resources: map[standing.Standing]int{l.standing: 1}}
}

func ExampleAfter() {
	reconciler := &lamps{}
	_, err := reconciler.Reconcile(context.Background(), request.Request{})
	fmt.Println(err, reconciler.Tally().Resources)
	// Output: no such bulb map[failing:1]
}

func ExampleOf() {
	provider, err := standing.Of(&lamps{standing.Settled})
	fmt.Println(provider.Tally().Resources, err)
	// Output: map[settled:1] <nil>
}

func ExampleAll() {
	fmt.Println(standing.All())
	// Output: [settled waiting failing refused paused deleting]
}
