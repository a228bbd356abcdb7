package deploy

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Action says what became of an object.
type Action string

// The closed set of actions.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Unchanged  Action = "unchanged"
	// Replaced: the content was written as a whole (see Replace).
	Replaced Action = "replaced"
	// Recreated: it was deleted and made anew (see Recreate).
	Recreated Action = "recreated"
	// Removed: the deletion was asked for; finalizers may still hold the object.
	Removed Action = "deleted"
	// Skipped: there was nothing to do, or it can't be done yet (Err says why).
	Skipped Action = "skipped"
	// Conflicted: others hold fields or the object (*ConflictError, *OwnedError).
	Conflicted Action = "conflict"
	// Failed: the error says why.
	Failed Action = "failed"
)

// Result is what became of one object.
type Result struct {
	// Ref names the object, Action is what became of it.
	Ref    Ref
	Action Action
	// Object is the object as the cluster has it afterwards; nil when it is absent or not known.
	// It is shared: don't change it. Of a kind that the View holds as metadata it may have no more than that,
	// see PartialView.
	Object *unstructured.Unstructured
	// Changes are the places of an object that was there that are other than before: none for a new one.
	// What moves with every write, the status and the hash are left out; values of Secrets are digests. None
	// either for an object of which only metadata is known.
	Changes []Change
	// Rewritten are the places at which the cluster stored something else than was written just now, as admission does:
	// Before is what the manifest says, After what the object has, nil where that has none. What is unchanged isn't
	// compared again, and of an object of which only metadata is known there are none. Values of Secrets are digests.
	Rewritten []Change
	// Warnings are what the cluster remarks about an apply, such as a deprecated kind.
	Warnings []string
	// Taken are the fields that other managers held and that are this manager's now.
	Taken []FieldConflict
	// Kept are the fields of the intent that were left to other managers: by Keep, and those that a scaler has set to
	// another value, with the value in the Message, such as "left to kubectl, 5". See TakeBack.
	Kept []FieldConflict
	// ByLabel tells that the owner owns it by a label, since it can't by reference: see OwnedByLabel.
	ByLabel bool
	// Calls is how many requests were sent for it, those that failed among them. Reads of the View
	// don't count.
	Calls int
	// Err is why it failed, is skipped or conflicts; nil otherwise.
	Err error
}

// Changed tells whether the cluster was changed.
func (r Result) Changed() bool {
	switch r.Action {
	case Created, Configured, Replaced, Recreated, Removed:
		return true
	}
	return false
}

// Results holds one Result per object, in the order of the objects.
type Results []Result

// Changed tells whether any object was changed.
func (r Results) Changed() bool {
	for _, result := range r {
		if result.Changed() {
			return true
		}
	}
	return false
}

// Err joins the errors of all objects; nil when there is none.
func (r Results) Err() error {
	var errs []error
	for _, result := range r {
		errs = append(errs, result.Err)
	}
	return errors.Join(errs...)
}
