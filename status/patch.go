package status

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/status/internal/condition"
)

// PatchForm is a way to write conditions to a cluster.
type PatchForm string

const (
	// ServerSideApply is for types whose conditions are a map by type (listType=map): only the own conditions are sent,
	// those of others can't be lost. Write one object in this form only: what was once written by an update or a merge
	// patch stays held by that writer, even under the same name, and an apply can't remove it then. Send it with a
	// field manager of your own and force: you own the conditions of your types, whoever wrote them before, and without
	// force the API server returns a conflict that no retry resolves.
	ServerSideApply PatchForm = "apply"
	// MergePatch is for every other type: RFC 7386 replaces lists as a whole, so all conditions are sent, with the
	// resourceVersion that they were read at. When somebody has written since, the API server returns a conflict: read
	// and compute again (see Write).
	MergePatch PatchForm = "merge"
)

// ErrPatch is a pair of objects that no patch can be made of.
var ErrPatch = errors.New("patch of conditions")

// Patch returns the smallest patch that writes the owned conditions of after, to be sent to the status subresource; nil
// when before has them already. The order of conditions and the transition times of unchanged ones are no difference.
// Besides the conditions a patch holds status.observedGeneration when after has one, and what identifies the object:
// nothing else of after gets into it.
//
// Conditions are sent in the form of metav1.Condition, without the fields that they don't have: for a typed object
// those for which its own condition type has no place, for a document those that aren't there. What Set wrote into a
// document has reason and message, so that a schema of another form refuses an apply of it. A new or changed condition
// has to be one that the API server takes; an unchanged one is sent as it is.
//
// Fields of a condition that metav1.Condition doesn't have are no difference either. A merge keeps them; an apply
// neither sends nor removes them, since they belong to the manager that wrote them.
//
// An own condition that after doesn't have is removed: by leaving it out of an apply, which gives up its ownership, or
// out of the list of a merge. When metadata.managedFields of before shows that an apply can't, since another manager
// (or the same one by an update or a merge patch) holds fields of it too, the error is ErrHeldByOthers; without
// managedFields this isn't noticed here, and the API server keeps the condition or refuses the patch.
//
// before and after are whole objects: *unstructured.Unstructured, map[string]any, or a pointer to a struct. Neither is
// changed, and the patch shares nothing with them.
//
// Errors: ErrPatch when no type is owned, the form isn't one of the two, the objects are two different ones, or one
// lacks what its form needs (apiVersion, kind and name; resourceVersion for a merge), and together with an error of
// Validate, or ErrNoTime, for a new or changed condition that is invalid; ErrHeldByOthers; ErrUnsupportedObject for a
// value that is no object.
func Patch(before, after any, form PatchForm, owned ...string) (map[string]any, error) {
	if len(owned) == 0 {
		return nil, fmt.Errorf("%w: name the types that are owned", ErrPatch)
	}
	if form != ServerSideApply && form != MergePatch {
		return nil, fmt.Errorf("%w: form %.64q, use ServerSideApply or MergePatch", ErrPatch, string(form))
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
	same := sameOwned(ownedOf(old, owned, lacking), ownedOf(next, owned, lacking)) && !repaired(old, next, owned)
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
	status[conditionsKey] = sentOf(next, owned, lacking)
	return applyPatch(next, status)
}

func samePatchObject(old, next map[string]any) error {
	for _, key := range [...]string{"name", "namespace", "uid"} {
		a, b := condition.Text(condition.Map(old, "metadata"), key), condition.Text(condition.Map(next, "metadata"), key)
		if a != b {
			return fmt.Errorf("%w: before and after are two objects: metadata.%s is %.64q and %.64q", ErrPatch, key, a, b)
		}
	}
	return nil
}

func applyPatch(next, status map[string]any) (map[string]any, error) {
	patch := map[string]any{"status": status}
	for _, key := range [...]string{"apiVersion", "kind"} {
		text := condition.Text(next, key)
		if text == "" {
			return nil, fmt.Errorf("%w: the object has no %s, an apply needs it", ErrPatch, key)
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
		return nil, fmt.Errorf("%w: the object has no metadata.name, an apply needs it", ErrPatch)
	}
	patch["metadata"] = metadata
	return patch, nil
}

func mergePatch(old, status map[string]any) (map[string]any, error) {
	version := condition.Text(condition.Map(old, "metadata"), "resourceVersion")
	if version == "" {
		return nil, fmt.Errorf("%w: the object has no metadata.resourceVersion, a merge needs it", ErrPatch)
	}
	return map[string]any{"metadata": map[string]any{"resourceVersion": version}, "status": status}, nil
}

// mergedList is the list as it was read, with the own conditions as they are in after: the conditions of others in
// after aren't ours to write. It keeps the places of present entries, and their unknown fields.
func mergedList(old, next map[string]any, owned, lacking []string) []any {
	result := []any{}
	placed := map[string]bool{}
	after := mapsOf(condition.List(next))
	for _, element := range mapsOf(condition.List(old)) {
		conditionType := typeOf(element)
		if !slices.Contains(owned, conditionType) {
			result = append(result, clone(element))
			continue
		}
		if entry := condition.Find(after, conditionType); entry != nil && !placed[conditionType] {
			placed[conditionType] = true
			result = append(result, withKnown(entry, lacking))
		}
	}
	for _, element := range after {
		conditionType := typeOf(element)
		if slices.Contains(owned, conditionType) && !placed[conditionType] {
			placed[conditionType] = true
			result = append(result, withKnown(condition.Find(after, conditionType), lacking))
		}
	}
	return result
}
