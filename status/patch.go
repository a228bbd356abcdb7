package status

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/status/internal/condition"
)

// PatchForm is the kind of patch that writes conditions to a cluster.
type PatchForm string

const (
	// ServerSideApply is for types whose conditions are a map by type (listType=map). Only the owned conditions are
	// sent, so the conditions of others can't be lost. If you write an object in this form, use no other form for it:
	// fields that an update or a merge patch once wrote stay owned by that writer, even under the same manager name,
	// and an apply can't remove them. Send the patch with your own field manager and with force. Your controller owns
	// the conditions of its types, whoever wrote them before. Without force, the API server returns a conflict that no
	// retry resolves.
	ServerSideApply PatchForm = "apply"
	// MergePatch is for every other type. RFC 7386 replaces lists as a whole, so all conditions are sent, with the
	// resourceVersion at which they were read. If somebody has written the object since, the API server returns a
	// conflict: read and compute again (see Write).
	MergePatch PatchForm = "merge"
)

// ErrPatch means that no patch can be made of the two objects.
var ErrPatch = errors.New("patch of conditions")

// Patch returns the smallest patch that writes the owned conditions of after. Send it to the status subresource. Patch
// returns nil if before has these conditions already. The order of conditions and the transition times of unchanged
// conditions don't count as differences. Apart from the conditions, a patch contains the fields that identify the
// object, and status.observedGeneration if after has it.
//
// Conditions are sent in the form of metav1.Condition. For a typed object, Patch leaves out the fields that its
// condition type doesn't have; for a document, a missing reason or message. A condition that Set wrote into a document
// always has a reason and a message. If the schema has no such fields, the API server refuses to apply the condition. A
// new or changed condition has to be valid for the API server. An unchanged condition is sent as it is.
//
// Fields of a condition that metav1.Condition doesn't have don't count as differences either. A merge keeps them. An
// apply neither sends nor removes them, because they belong to the manager that wrote them.
//
// An owned condition that after doesn't have is removed. An apply leaves it out and so gives up its ownership; a merge
// leaves it out of the list. An apply can't remove a condition if another manager also owns fields of it, or if the
// same manager owns them by an update or a merge patch. If metadata.managedFields of before shows this, the error is
// ErrHeldByOthers. Without managedFields, Patch doesn't notice this, and the API server keeps the condition or refuses
// the patch.
//
// before and after are whole objects: *unstructured.Unstructured, map[string]any, or a pointer to a struct. Patch
// changes neither of them, and the patch shares no data with them.
//
// Errors: ErrPatch if no type is owned, if the form is unknown, if before and after are different objects, or if one
// lacks a field that the form needs (apiVersion, kind and name for an apply, resourceVersion for a merge). If a new or
// changed condition is invalid, the error wraps ErrPatch and the error of Validate, or ErrPatch and ErrNoTime.
// ErrHeldByOthers wraps ErrPatch too. ErrUnsupportedObject is for a value that isn't an object.
func Patch(before, after any, form PatchForm, owned ...string) (map[string]any, error) {
	if len(owned) == 0 {
		return nil, fmt.Errorf("%w: name the types that are owned", ErrPatch)
	}
	if form != ServerSideApply && form != MergePatch {
		return nil, fmt.Errorf("%w: unknown form %.64q: use ServerSideApply or MergePatch", ErrPatch, string(form))
	}
	old, err := documentOf(before)
	if err != nil {
		return nil, err
	}
	next, err := documentOf(after)
	if err != nil {
		return nil, err
	}
	if err := samePatchObject(old, next); err != nil {
		return nil, err
	}
	lacking := lackingIn(after)
	same := sameOwned(ownedOf(old, owned, lacking, known), ownedOf(next, owned, lacking, known)) && !repaired(old, next, owned)
	generation, hasGeneration := condition.Integer(condition.Map(next, "status")[observedGenerationKey])
	present, hadGeneration := condition.Integer(condition.Map(old, "status")[observedGenerationKey])
	sameGeneration := !hasGeneration || hadGeneration && generation == present
	if sameGeneration && same {
		return nil, nil
	}
	if err := sendable(old, next, owned); err != nil {
		return nil, err
	}
	status := map[string]any{}
	if hasGeneration {
		status[observedGenerationKey] = generation
	}
	if form == MergePatch {
		if sameGeneration {
			delete(status, observedGenerationKey)
		}
		if !same {
			status[conditionsKey] = mergedList(old, next, owned, lacking)
		}
		return mergePatch(old, status)
	}
	if err := removable(old, next, owned); err != nil {
		return nil, err
	}
	status[conditionsKey] = ownedOf(next, owned, lacking, sent)
	return applyPatch(next, status)
}

func samePatchObject(old, next map[string]any) error {
	for _, key := range [...]string{"name", "namespace", "uid"} {
		a, b := condition.Text(condition.Map(old, "metadata"), key), condition.Text(condition.Map(next, "metadata"), key)
		if a != b {
			return fmt.Errorf("%w: before and after are different objects: metadata.%s is %.64q and %.64q", ErrPatch, key, a, b)
		}
	}
	return nil
}

func applyPatch(next, status map[string]any) (map[string]any, error) {
	patch := map[string]any{"status": status}
	for _, key := range [...]string{"apiVersion", "kind"} {
		text := condition.Text(next, key)
		if text == "" {
			return nil, fmt.Errorf("%w: the object has no %s, which an apply needs", ErrPatch, key)
		}
		patch[key] = text
	}
	metadata := map[string]any{}
	for _, key := range [...]string{"name", "namespace", "uid"} {
		if text := condition.Text(condition.Map(next, "metadata"), key); text != "" {
			metadata[key] = text
		}
	}
	if metadata["name"] == nil {
		return nil, fmt.Errorf("%w: the object has no metadata.name, which an apply needs", ErrPatch)
	}
	patch["metadata"] = metadata
	return patch, nil
}

func mergePatch(old, status map[string]any) (map[string]any, error) {
	version := condition.Text(condition.Map(old, "metadata"), "resourceVersion")
	if version == "" {
		return nil, fmt.Errorf("%w: the object has no metadata.resourceVersion, which a merge needs", ErrPatch)
	}
	return map[string]any{"metadata": map[string]any{"resourceVersion": version}, "status": status}, nil
}

// mergedList returns the conditions of old, with the owned conditions as they are in next. It ignores the conditions of
// others in next, because only their owners may change them. Present entries keep their places and their unknown
// fields.
func mergedList(old, next map[string]any, owned, lacking []string) []any {
	result := []any{}
	placed := map[string]bool{}
	before, after := mapsOf(condition.List(old)), mapsOf(condition.List(next))
	for i, element := range slices.Concat(before, after) {
		conditionType := typeOf(element)
		if !slices.Contains(owned, conditionType) {
			if i < len(before) {
				result = append(result, clone(element))
			}
			continue
		}
		if entry := condition.Find(after, conditionType); entry != nil && !placed[conditionType] {
			placed[conditionType] = true
			result = append(result, withKnown(entry, lacking))
		}
	}
	return result
}
