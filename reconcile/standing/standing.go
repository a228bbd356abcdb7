package standing

import (
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Standing is the state of a resource after its last reconcile.
type Standing string

// The standings of a resource.
const (
	// Settled: nothing is left to do for the resource.
	Settled Standing = "settled"
	// Waiting: something that the resource consists of isn't ready yet, or the resource waits for a precondition.
	Waiting Standing = "waiting"
	// Failing: the reconcile of the resource failed and is retried.
	Failing Standing = "failing"
	// Refused: the reconcile of the resource failed permanently. It isn't retried with backoff, but waits for an event,
	// or for the period of the engine (watch.Period).
	Refused Standing = "refused"
	// Paused: the resource is paused by its annotation.
	Paused Standing = "paused"
	// Deleting: the resource is being deleted, and nothing has failed.
	Deleting Standing = "deleting"
)

// All returns all standings, in the order of the constants.
func All() []Standing { return []Standing{Settled, Waiting, Failing, Refused, Paused, Deleting} }

// After returns the Standing of a resource after a reconcile that returned err. complete means that nothing is left to
// do for the resource; it counts only if err is nil. An error that means waiting (request.IsWaiting) is no failure.
func After(resource metav1.Object, complete bool, err error) Standing {
	switch failed := err != nil && !request.IsWaiting(err); {
	case failed && request.IsPermanent(err):
		return Refused
	case failed:
		return Failing
	case resource.GetDeletionTimestamp() != nil:
		return Deleting
	case complete && err == nil:
		return Settled
	}
	return Waiting
}

// Tally counts the resources of a reconciler.
type Tally struct {
	// Resources counts the resources by their Standing. It has no entries with the count zero.
	Resources map[Standing]int
	// Components counts the components of all resources by their state, such as reconcile.State. It has an entry for
	// each state, also with the count zero. It is empty for a reconciler without components.
	Components map[string]int
	// Versions counts the resources by the version that they want. Resources that want no version aren't counted.
	Versions map[string]int
	// Contested is the number of objects with fields that somebody else keeps setting, so that these fields aren't
	// applied for a while, see deploy.ConflictError.
	Contested int
	// Daemons counts the functions that a reconciler runs in the background, by what they do: running, stopping, or
	// abandoned, which means that they don't return. It is empty for a reconciler without such functions.
	Daemons map[string]int
	// GivenUp counts how often the reconciler has given up a function after its last retry, by the name of the function,
	// since the process started. It is empty for a reconciler without such functions.
	GivenUp map[string]int
}

// Provider is implemented by a reconciler that counts its resources. Resources that are gone, or have left the view,
// aren't counted. Tally may be called at any time, by several goroutines.
type Provider interface {
	Tally() Tally
}

// Of returns a reconciler as the Provider that it is, nil if it has no method Tally. A method of that name with another
// signature is an error.
func Of(reconciler any) (Provider, error) {
	provider, _ := reconciler.(Provider)
	return provider, optional.Check(reconciler, reflect.TypeFor[Provider]())
}
