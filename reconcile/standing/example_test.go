package standing_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lamps is a reconciler that counts its resources: it embeds a Book.
type lamps struct{ standing.Book }

func (l *lamps) Reconcile(_ context.Context, req request.Request) (result request.Result, err error) {
	lamp := &metav1.ObjectMeta{Name: req.Key.Name}
	defer func() { l.Set(req.Key, standing.After(lamp, true, err)) }()
	if lamp.Name == "hall" {
		return result, errors.New("no such bulb")
	}
	return result, nil
}

func ExampleBook() {
	reconciler := &lamps{}
	hall, kitchen := deploy.Ref{Name: "hall"}, deploy.Ref{Name: "kitchen"}
	_, err := reconciler.Reconcile(context.Background(), request.Request{Key: hall})
	fmt.Println(err, reconciler.Tally().Resources)
	_, err = reconciler.Reconcile(context.Background(), request.Request{Key: kitchen})
	fmt.Println(err, reconciler.Tally().Resources)
	reconciler.Forget(hall) // as the engine does for a resource that is gone
	fmt.Println(reconciler.Tally().Resources)
	// Output:
	// no such bulb map[failing:1]
	// <nil> map[failing:1 settled:1]
	// map[settled:1]
}

func ExampleAfter() {
	lamp := &metav1.ObjectMeta{Name: "hall"}
	fmt.Println(standing.After(lamp, true, nil))
	fmt.Println(standing.After(lamp, true, request.Precondition("no bulb yet")))
	fmt.Println(standing.After(lamp, true, request.Permanent(errors.New("no such bulb"))))
	// Output:
	// settled
	// waiting
	// refused
}

func ExampleOf() {
	reconciler := &lamps{}
	reconciler.Set(deploy.Ref{Name: "hall"}, standing.Paused)
	provider, err := standing.Of(reconciler)
	fmt.Println(provider.Tally().Resources, err)
	// Output: map[paused:1] <nil>
}

func ExampleAll() {
	fmt.Println(standing.All())
	// Output: [settled waiting failing refused paused deleting]
}
