// Package desired is a style of operator: a pure function from a parent and its observed children to the children that
// it should have, and its status. The package creates, updates and deletes what differs, and asks the function again
// when something changes.
//
//	type cats struct{}
//
//	func (cats) Sync(r desired.Request[CatSet]) (response desired.Response, err error) {
//		for i := range r.Parent.Spec.Cats {
//			response.Children = append(response.Children, pod(r.Parent, i))
//		}
//		response.Status = CatSetStatus{Cats: len(r.Children.Of(pods))}
//		return response, nil
//	}
//
//	op := operator.New("cats")
//	op.Drive(desired.New(catSets, cats{}, desired.Child(pods, desired.RollingRecreate)))
//	op.Main()
//
// # Children
//
// Each kind of children is declared by Child, with the Strategy by which existing children are updated. A function may
// return only children of these kinds, in the namespace of the parent, each with a name and once; anything else is a
// ChildError, and nothing is changed. The parent becomes the controller of its children.
//
// Wanted children that are absent are created first, several at once, and then others are updated. Children that aren't
// wanted are deleted last, and only if all wanted ones exist and nothing has failed. A child is compared with what was
// applied last, and not field by field: values that the cluster fills in are no difference, and a child that is as
// wanted costs no request.
//
// An existing object that has another owner, or none, is no child: if it is wanted, that is an error. See Adopter. An
// object that this operator has applied and that has lost its owner gets it back.
//
// # Rounds
//
// When the children or the status have changed, the function is asked again at once, with the children as they were
// written, until its answer changes nothing. So the status that is written is computed from the children as they are,
// and never from the children before an update. A function whose answer never ends to change something is asked five
// times, and again after a second.
//
// # Rolls
//
// With RollingInPlace and RollingRecreate, one child after the other is updated, and the next one when all others are
// healthy. A child that is deleted meanwhile is created as it is wanted now. With the option Revisions it is created as
// it was, and only changes of some fields of the parent roll.
//
// # Deletion
//
// The cluster deletes the children of a parent that is gone. A Syncer with a method Finalize holds its parents by a
// finalizer, and is asked by Finalize, for each event and after ResyncAfter, until its Response is Finalized. What it
// returns meanwhile decides in which order children go.
//
// # Some parents of a kind
//
// A Syncer with a method Selects has only some of the parents of its kind, and others aren't changed. To add to objects
// that have a controller of their own, such as Deployments, use the option Decorates; a Response may set labels and
// annotations of the parent.
//
// # What users see
//
// The status is what the function returns. Events of a parent name the children that were created, changed, recreated
// and deleted, and say what has failed, see EventCreated. A parent that T can't hold has the condition
// ConditionUnreadable, and one with Revisions the condition Updated.
//
// # Rights
//
// The operator needs the rights that its Reconciler declares (watch.RightsProvider). For a Sync that selects related
// objects, name their kinds by Relates. To recreate children, the operator reads which claims would be deleted with
// them; if a claim has an owner, the operator reads that, too, so that it needs the right to get objects of that kind.
//
// # Tests
//
// A Sync is a function: a test makes a Request with Collect, calls it, and looks at the Response. Package reconciletest
// runs a whole Controller, in memory and on a real cluster; a function whose answer never ends to change something
// fails such a test.
//
// # When to use it
//
// Use it for a parent whose children can be computed all at once, and to move an operator from metacontroller or
// roperator. Use the sessions of package reconcile if some objects have to be ready before others are applied, or if
// the outcome is to be reported in standard conditions without code. Use package handlers for work outside of the
// cluster: a function of this package must only compute.
package desired
