package desired

import "github.com/operkit/operkit/reconcile/desired/internal/plan"

// Strategy says how existing children of a kind become the wanted ones when they differ. Absent children are always
// created at once.
//
// A child that is returned with the annotation <domain>/strategy has that strategy of package deploy instead. If its
// kind is rolled, it stays in the roll, unless the annotation says OnDelete, CreateOnly or Ignore: then nobody waits
// for it. A child with Ignore isn't created either. To recreate children of a custom kind by the annotation, the
// operator needs the right to list PersistentVolumeClaims, which is among the declared ones only if a kind is declared
// with Recreate or RollingRecreate.
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
	// generation, the child counts as healthy when its status has changed after the write, or ten seconds later: a kind
	// whose status nobody writes is rolled at ten seconds for each child. The order
	// is that of Response.Children. A child that isn't healthy after its change stops the roll of healthy ones, until
	// it is healthy or something else is wanted. See Revisions for other rolls.
	RollingInPlace = plan.RollingInPlace
	// RollingRecreate is Recreate in the way of RollingInPlace.
	RollingRecreate = plan.RollingRecreate
)
