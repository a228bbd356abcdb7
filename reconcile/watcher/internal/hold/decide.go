package hold

import (
	"maps"
	"reflect"
	"slices"

	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// Names are the finalizers of a watcher.
type Names struct {
	// Final holds an object that was added, and InProgress one that is being added. InProgress is empty if there is no
	// such finalizer.
	Final, InProgress string
}

// Rules are the options of a watcher with a finalizer.
type Rules struct {
	Names
	// Needed: something has to be done for a deletion. Otherwise no finalizer is added.
	Needed bool
	// AnyChange: an update that leaves the generation as it is counts.
	AnyChange bool
	// IsReconciler: the watcher is one function for all actions.
	IsReconciler bool
}

// Write is a change of the finalizers.
type Write int

// The changes.
const (
	// Keep changes nothing.
	Keep Write = iota
	// Begin adds the finalizer InProgress.
	Begin
	// Finish puts Final in the place of InProgress, or adds it.
	Finish
	// Tidy removes InProgress.
	Tidy
	// Release removes both.
	Release
)

// Plan is what is done for one call.
type Plan struct {
	// Before is written before the call, and After when it has succeeded.
	Before, After Write
	// Call is what the user's function is called for, empty for no call.
	Call work.Action
	// Again: another call follows at once, with what Before has written.
	Again bool
}

// Decide returns what is done for a call, given the object as it is now. A plan that writes something before its call
// holds only for the object as it was before that write.
func (r Rules) Decide(c work.Call, object *work.Object) Plan {
	finalizers := object.GetFinalizers()
	final := slices.Contains(finalizers, r.Final)
	inProgress := r.InProgress != "" && slices.Contains(finalizers, r.InProgress)
	plan := Plan{}
	switch {
	case c.Action == work.Delete:
		return plan
	case object.GetDeletionTimestamp() != nil && !final && !inProgress:
		return plan
	case object.GetDeletionTimestamp() != nil:
		return Plan{Call: work.Delete, After: Release}
	case !final && r.Needed && r.IsReconciler && c.Action == work.Update:
		return Plan{Before: Finish, Again: true}
	case !final && r.Needed:
		plan = Plan{Call: work.Create, After: Finish}
		if r.InProgress != "" && !inProgress {
			plan.Before = Begin
		}
		if r.IsReconciler {
			plan.Call = c.Action
		}
		return plan
	case c.Action == work.Create && final:
		plan.Call = work.Resync
	case c.Action == work.Update && !r.counts(c):
	default:
		plan.Call = c.Action
	}
	if inProgress {
		plan.After = Tidy
	}
	return plan
}

// counts reports whether an update matters to the watcher.
func (r Rules) counts(c work.Call) bool {
	if r.IsReconciler {
		return true
	}
	if before, after := c.Old.GetGeneration(), c.Object.GetGeneration(); after > 0 && before == after && !r.AnyChange {
		return false
	}
	return !slices.Contains(c.Object.GetFinalizers(), r.Final) || slices.Contains(c.Old.GetFinalizers(), r.Final) ||
		!IsSame(c.Old, c.Object)
}

// IsSame reports whether two states differ at most in their finalizers, and in what each write changes.
func IsSame(a, b *work.Object) bool { return reflect.DeepEqual(essential(a), essential(b)) }

func essential(object *work.Object) map[string]any {
	content := maps.Clone(object.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range []string{"finalizers", "resourceVersion", "managedFields"} {
			delete(metadata, field)
		}
		content["metadata"] = metadata
	}
	return content
}

// Finalizers returns the finalizers of an object after a write. changed is false if they stay as they are. Those of
// others stay where they are. An object that is being deleted gets no new finalizer.
func (n Names) Finalizers(object *work.Object, w Write) (finalizers []string, changed bool) {
	present := object.GetFinalizers()
	has := func(name string) bool { return slices.Contains(present, name) }
	isDeleting := object.GetDeletionTimestamp() != nil
	switch {
	case w == Begin && !isDeleting && !has(n.InProgress) && !has(n.Final):
		return append(slices.Clone(present), n.InProgress), true
	case w == Finish && !isDeleting && !has(n.Final):
		if at := slices.Index(present, n.InProgress); at >= 0 && n.InProgress != "" {
			present = slices.Clone(present)
			present[at] = n.Final
			return present, true
		}
		return append(slices.Clone(present), n.Final), true
	case w == Tidy || w == Finish && !isDeleting, w == Release:
		kept := slices.DeleteFunc(slices.Clone(present), func(name string) bool {
			return name != "" && (name == n.InProgress || w == Release && name == n.Final)
		})
		return kept, len(kept) < len(present)
	}
	return present, false
}

// Lacks reports whether a write has yet to be made.
func (n Names) Lacks(object *work.Object, w Write) bool {
	_, lacks := n.Finalizers(object, w)
	return lacks
}

// IsHeld reports whether one of the finalizers is on an object.
func (n Names) IsHeld(object *work.Object) bool {
	return slices.ContainsFunc(object.GetFinalizers(), func(name string) bool { return name == n.Final || name != "" && name == n.InProgress })
}
