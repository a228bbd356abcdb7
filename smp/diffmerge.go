package smp

import (
	"errors"
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
)

// DiffMerge makes the merge patch (RFC 7386) that turns before into after: with it, [Merge] returns a value that equals
// after. before and after may be any JSON values. For equal objects, the patch is an empty object.
//
// A merge patch can't set a field to null, because a null deletes the field. If the patch would need such a null, the
// error is of kind [Invalid] and has the field's Path. A null in after is no error if the field is null in before, too,
// if the null is inside a list, or if after itself is null. If before and after are different Kubernetes objects,
// [Merge] needs [AllowIdentityChange].
//
// Neither value is changed; the patch shares nothing with them unless [Shared] is given. Other errors
// are [*PatchError] of kind [Document] or [Limit].
func DiffMerge(before, after any, opts ...Option) (any, error) {
	return call(before, opts, func(o options) (any, error) { return diffMerge(before, after, o) })
}

func diffMerge(before, after any, o options) (any, error) {
	if err := o.checkJSON(before, after); err != nil {
		return nil, err
	}
	object, isObject := after.(map[string]any)
	if !isObject {
		return o.own(after)
	}
	old, _ := before.(map[string]any)
	return o.diffFields(old, object, nil)
}

// diffFields returns the patch that turns one object into another. at is the path of both.
func (o options) diffFields(before, after map[string]any, at path) (map[string]any, error) {
	patch := map[string]any{}
	for key := range before {
		if _, stays := after[key]; !stays {
			patch[key] = nil
		}
	}
	// Sorted by name, so that the error is always the same.
	for _, key := range slices.Sorted(maps.Keys(after)) {
		old, had := before[key]
		value := after[key]
		if had && document.Equal(old, value) {
			continue
		}
		place := append(at, step{field: key})
		changed, err := o.diffField(old, value, place)
		if err != nil {
			return nil, err
		}
		patch[key] = changed
	}
	return patch, nil
}

// diffField returns the patch for a field that differs.
func (o options) diffField(old, value any, at path) (any, error) {
	switch value := value.(type) {
	case nil:
		return nil, &PatchError{Path: at.String(), Kind: Invalid, Err: errors.New(
			"a merge patch can't set a field to null, because null deletes the field: use a JSON patch")}
	case map[string]any:
		oldFields, _ := old.(map[string]any)
		return o.diffFields(oldFields, value, at)
	default:
		return o.own(value)
	}
}

// checkJSON returns an error if one of the values isn't JSON, or is nested too deeply.
func (o options) checkJSON(values ...any) error {
	for _, value := range values {
		if err := document.Check(value, o.limits.depth); err != nil {
			return notJSON(err, "")
		}
	}
	return nil
}

// own returns a checked value for the result: a copy, unless the result may share values with the arguments.
func (o options) own(value any) (any, error) {
	copied := document.Clone
	if o.shared {
		copied = document.Plain
	}
	own, err := copied(value, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	return own, nil
}
