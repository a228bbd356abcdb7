package deploy

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Action is the action that was taken for an object.
type Action string

// The actions.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Unchanged  Action = "unchanged"
	// Replaced means that the content was written as a whole (see Replace).
	Replaced Action = "replaced"
	// Recreated means that the object was deleted and created again (see Recreate).
	Recreated Action = "recreated"
	// Removed means that the deletion was requested; finalizers may still block it.
	Removed Action = "deleted"
	// Skipped means that there was nothing to do, or that the action isn't possible yet (Err says why).
	Skipped Action = "skipped"
	// Conflicted means that others own fields (*ConflictError) or the object (*OwnedError).
	Conflicted Action = "conflict"
	// Failed means that the work on the object failed (Err says why).
	Failed Action = "failed"
)

// Result is the result for one object.
type Result struct {
	// Ref names the object. Action is the action that was taken for it.
	Ref    Ref
	Action Action
	// Object is the object in the cluster afterwards, nil if the object is absent or not known. It is shared: don't
	// change it. If the View holds only metadata of the kind, Object may have only metadata, see PartialView.
	Object *unstructured.Unstructured
	// Changes are the paths at which an existing object differs from its state before. They leave out the status, the
	// hash and fields that change with every write. Values of Secrets are digests. Changes is empty for a new object,
	// and for an object of which only the metadata is known.
	Changes []Change
	// Rewritten are the paths at which the cluster, for example an admission webhook, stored another value than the
	// value that was just written. Before is the value in the manifest. After is the value in the object, nil if there
	// is none. Values of Secrets are digests. Rewritten is empty for an unchanged object, and for an object of which
	// only the metadata is known.
	Rewritten []Change
	// Warnings are the cluster's warnings about an apply, such as about a deprecated kind.
	Warnings []string
	// Taken are the fields that were taken over from other managers.
	Taken []FieldConflict
	// Kept are the fields of the intent that were left to other managers: because of Keep, because they were taken over
	// too often, or because a scaler has set another value. The Message has the scaler's value, such as "left to
	// kubectl, 5". See TakeBack.
	Kept []FieldConflict
	// ByLabel reports that the owner owns the object by a label, because the object can't reference the owner
	// (OwnedByLabel).
	ByLabel bool
	// Calls is how many requests were sent for the object, including failed ones. Reads from the View don't count.
	Calls int
	// Err says why the object failed, was skipped or conflicts. Otherwise it is nil.
	Err error
}

// Changed reports whether the cluster was changed.
func (r Result) Changed() bool {
	return slices.Contains([]Action{Created, Configured, Replaced, Recreated, Removed}, r.Action)
}

// Results holds one Result per object, in the order of the objects.
type Results []Result

// Changed reports whether any object was changed.
func (r Results) Changed() bool {
	return slices.ContainsFunc(r, Result.Changed)
}

// Err joins the errors of all objects. It returns nil if there are none.
func (r Results) Err() error {
	var errs []error
	for _, result := range r {
		errs = append(errs, result.Err)
	}
	return errors.Join(errs...)
}

// rewritten returns the paths at which the cluster stored another value than the value that was sent, for example
// because of admission or because a schema drops a field. It leaves out values that the cluster added or stored in an
// equivalent form, and fields that were left to others. It returns nil if only metadata of the object was returned.
func (t *task) rewritten(result Result) []Change {
	stored := result.Object
	if t.in == nil || stored == nil || result.Err != nil || !t.wrote(result.Action) || onlyMetadata(stored) && !onlyMetadata(t.in.object) {
		return nil
	}
	if within(t.in.object.Object, stored.Object, sameValue) {
		return nil // the common case
	}
	wanted := withoutScaled(t.in.object, stored, t.fieldManager)
	return slices.DeleteFunc(t.changes(wanted, stored), func(c Change) bool {
		return isAbsent(c.Before) || sameInOtherForm(c.Before, c.After) || slices.ContainsFunc(result.Kept, func(kept FieldConflict) bool {
			return c.Path == kept.Field || strings.HasPrefix(c.Path, kept.Field+".") || strings.HasPrefix(c.Path, kept.Field+"[")
		})
	})
}

// wrote reports whether action means that the whole intent was written.
func (t *task) wrote(action Action) bool {
	switch action {
	case Created, Replaced, Recreated:
		return true
	case Configured:
		return t.in.strategy != CreateOnly && t.in.strategy != OnDelete
	}
	return false
}
