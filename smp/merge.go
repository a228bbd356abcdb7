package smp

import (
	"maps"

	"github.com/operkit/operkit/smp/internal/document"
)

// Merge applies a merge patch (RFC 7386) to a document and returns the result. Both may be any JSON
// value: where the patch is an object, its fields are merged into the document's and a null deletes
// one; anything else replaces what is there, lists whole.
//
// Neither the document nor the patch is changed, and the result shares nothing with them unless
// [Shared] is given; then what isn't touched isn't checked either. Of an object with apiVersion and
// kind, these, its name and its namespace can't be changed unless [AllowIdentityChange] is given.
// Errors are [*PatchError] of kind [Identity], [Document] or [Limit]; then there is no result.
func Merge(doc, patch any, opts ...Option) (any, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	out, err := mergePatch(doc, patch, o)
	if err != nil {
		return nil, located(err, doc, o)
	}
	return out, nil
}

func mergePatch(doc, patch any, o options) (any, error) {
	patch, err := document.Plain(patch, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	out, err := joiner{shared: o.shared}.merge(doc, patch, o.limits.depth)
	if err != nil {
		// Of several mistakes the first by name is told, whatever the order of a map's keys.
		return nil, notJSON(document.Check(doc, o.limits.depth), "")
	}
	if err := checkIdentity(doc, out, o); err != nil {
		return nil, err
	}
	return out, nil
}

// joiner merges one patch, which is plain JSON, into a document.
type joiner struct{ shared bool }

// merge is MergePatch of RFC 7386. It fails where the document can't be copied.
func (j joiner) merge(target, patch any, depth int) (any, error) {
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return j.keep(patch, depth)
	}
	object, _ := target.(map[string]any)
	out, err := j.without(object, fields, depth-1)
	if err != nil {
		return nil, err
	}
	for key, value := range fields {
		if value == nil {
			delete(out, key)
			continue
		}
		if out[key], err = j.merge(object[key], value, depth-1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// without is a copy of an object for merging fields into it: what these will replace isn't copied.
func (j joiner) without(object, fields map[string]any, depth int) (map[string]any, error) {
	out := maps.Clone(object)
	if out == nil {
		return make(map[string]any, len(fields)), nil
	}
	if j.shared {
		return out, nil
	}
	for key, value := range object {
		if _, replaced := fields[key]; replaced {
			continue
		}
		switch value.(type) {
		case string, int64, bool, nil:
			continue
		}
		own, err := j.keep(value, depth)
		if err != nil {
			return nil, err
		}
		out[key] = own
	}
	return out, nil
}

// keep is what the result holds of a value that stays as it is.
func (j joiner) keep(value any, depth int) (any, error) {
	if j.shared {
		return value, nil
	}
	return document.Clone(value, depth)
}
