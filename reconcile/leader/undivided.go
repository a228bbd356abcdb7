package leader

import (
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/optional"
)

// Undivided may be implemented by a Reconciler whose work for an object goes on between reconciles, when no replica
// holds the lock on the object.
type Undivided interface {
	// NeedsLeader returns why one replica has to lead for all objects, or nil if that isn't so. PerObject calls it
	// once, and fails with the reason.
	NeedsLeader() error
}

// checkDivisible returns an error if replicas can't share the objects of next.
func checkDivisible(next Reconciler) error {
	if err := optional.Check(next, reflect.TypeFor[Undivided]()); err != nil {
		return err
	}
	if undivided, ok := next.(Undivided); ok {
		if why := undivided.NeedsLeader(); why != nil {
			return fmt.Errorf("%w: use one lock for all objects, such as a Lease", why)
		}
	}
	return nil
}
