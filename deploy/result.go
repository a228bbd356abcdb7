package deploy

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Action is what was done with an object.
type Action string

// The actions.
const (
	Created    Action = "created"
	Configured Action = "configured"
	Unchanged  Action = "unchanged"
	// Replaced: the content was written as a whole (see Replace).
	Replaced Action = "replaced"
	// Recreated: it was deleted and created again (see Recreate).
	Recreated Action = "recreated"
	// Removed: the deletion was requested; finalizers may still hold the object.
	Removed Action = "deleted"
	// Skipped: there was nothing to do, or it can't be done yet (Err says why).
	Skipped Action = "skipped"
	// Conflicted: others hold fields (*ConflictError) or the object (*OwnedError).
	Conflicted Action = "conflict"
	// Failed: the error says why.
	Failed Action = "failed"
)

// Result is the result for one object.
type Result struct {
	// Ref names the object, Action is what was done with it.
	Ref    Ref
	Action Action
	// Object is the object as the cluster has it afterwards; nil when it is absent or not known. It is shared: don't
	// change it. If the View holds only metadata of the kind, it may have only metadata, see PartialView.
	Object *unstructured.Unstructured
	// Changes are the paths at which an object that existed differs from before, without the status, the hash and
	// fields that change with every write; values of Secrets are digests. There are none for a new object, and for one
	// of which only the metadata is known.
	Changes []Change
	// Rewritten are the paths at which the cluster, for example an admission webhook, stored another value than was
	// just written: Before is the value of the manifest, After that of the object, nil if it has none. There are none
	// for an unchanged object, and for one of which only the metadata is known. Values of Secrets are digests.
	Rewritten []Change
	// Warnings are the cluster's warnings about an apply, such as about a deprecated kind.
	Warnings []string
	// Taken are the fields that were taken over from other managers.
	Taken []FieldConflict
	// Kept are the fields of the intent that were left to other managers: because of Keep, or because a scaler has set
	// another value, which is in the Message, such as "left to kubectl, 5". See TakeBack.
	Kept []FieldConflict
	// ByLabel reports that the owner owns it by a label, because it can't reference the owner: see OwnedByLabel.
	ByLabel bool
	// Calls is how many requests were sent for it, including failed ones. Reads of the View don't count.
	Calls int
	// Err is why it failed, was skipped or conflicts; nil otherwise.
	Err error
}

// Changed reports whether the cluster was changed.
func (r Result) Changed() bool {
	switch r.Action {
	case Created, Configured, Replaced, Recreated, Removed:
		return true
	}
	return false
}

// Results holds one Result per object, in the order of the objects.
type Results []Result

// Changed reports whether any object was changed.
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

// rewritten returns the paths at which the cluster stored another value than was sent, because of admission or a schema
// that drops a field. It leaves out values that the cluster added or stored in an equivalent form, and fields left to
// others. It is nil if only metadata was returned.
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
