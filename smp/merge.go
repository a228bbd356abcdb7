package smp

import (
	"maps"

	"github.com/operkit/operkit/smp/internal/document"
)

// Merge applies a merge patch (RFC 7386) to a document and returns the result. Both may be any JSON
// value: where the patch is an object, its fields are merged into the document's and a null deletes
// one; anything else replaces what is there, lists whole.
//
// Neither the document nor the patch is changed, and the result shares nothing with them unless [Shared] is given; then
// what the patch doesn't touch isn't checked either. The apiVersion, kind, name and namespace of a Kubernetes object
// can't be changed unless [AllowIdentityChange] is given. Errors are [*PatchError] of kind [Identity], [Document] or
// [Limit].
func Merge(doc, patch any, opts ...Option) (any, error) {
	return call(doc, opts, func(o options) (any, error) { return mergePatch(doc, patch, o) })
}

func mergePatch(doc, patch any, o options) (any, error) {
	patch, err := document.Plain(patch, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	out := merged(doc, patch)
	if err := checkIdentity(doc, out, o); err != nil {
		return nil, err
	}
	return o.detached(out, doc)
}

// merged is MergePatch of RFC 7386. It shares with both.
func merged(target, patch any) any {
	fields, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	object, _ := target.(map[string]any)
	out := maps.Clone(object)
	if out == nil {
		out = make(map[string]any, len(fields))
	}
	for key, value := range fields {
		if value == nil {
			delete(out, key)
		} else {
			out[key] = merged(object[key], value)
		}
	}
	return out
}

// detached is a result as the caller may have it: a copy, unless it may share with the inputs. A value in it that isn't
// JSON is looked for in the document first, where it has another path.
func (o options) detached(out, doc any) (any, error) {
	if o.shared {
		return out, nil
	}
	own, err := document.Clone(out, o.limits.depth)
	if err == nil {
		return own, nil
	}
	if inDocument := document.Check(doc, o.limits.depth); inDocument != nil {
		err = inDocument
	}
	return nil, notJSON(err, "")
}
