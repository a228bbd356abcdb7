package desired

import "github.com/operkit/operkit/reconcile/desired/internal/plan"

// Strategy says how existing children of a kind become the wanted ones when they differ. Absent children are always
// created at once. An object with the annotation <domain>/strategy has that strategy of package deploy instead.
type Strategy = plan.Strategy

// The strategies.
const (
	// OnDelete never changes a child. The wanted one is created after somebody has deleted the child.
	OnDelete = plan.OnDelete
	// InPlace changes children by server-side apply: fields that the function no longer returns are removed, and fields
	// of others stay.
	InPlace = plan.InPlace
	// Replace writes children as a whole: within each top-level field that is returned, fields of others are removed,
	// too. See deploy.Replace.
	Replace = plan.Replace
	// Recreate deletes a child whose wanted state has changed, and creates it again once it is gone. It is for kinds
	// whose objects can't be changed, such as Pods. What others have changed is repaired by server-side apply, unless
	// the cluster refuses that. If the cluster wouldn't accept the new object, or if the deletion would delete data
	// (deploy.Protected), the child is kept, and that is an error. See deploy.RecreateOnChange.
	Recreate = plan.Recreate
	// RollingInPlace is InPlace for one child after the other. A healthy child is changed only if all other wanted
	// children of the kind exist and are healthy. Children that differ and aren't healthy come first and wait for
	// nothing, so that a new version mends what the one before has broken. If the status of a child doesn't show its
	// generation, the child isn't healthy until the status is written after the change, or for ten seconds. The order
	// is that of Response.Children. A child that isn't healthy after its change stops the roll of healthy ones, until
	// it is healthy or something else is wanted.
	RollingInPlace = plan.RollingInPlace
	// RollingRecreate is Recreate in the way of RollingInPlace.
	RollingRecreate = plan.RollingRecreate
)
