package smp

import (
	"maps"

	"github.com/operkit/operkit/smp/internal/document"
)

// Merge applies a merge patch (RFC 7386) to a document and returns the result. Both may be any JSON value. If the patch
// is an object, its fields are merged into the document's, and a null deletes a field. Any other patch replaces the
// value; lists are replaced as a whole.
//
// Neither the document nor the patch is changed, and the result shares nothing with them unless [Shared] is given. With
// Shared, parts that the patch doesn't touch aren't checked. The apiVersion, kind, name and namespace of a Kubernetes
// object can't be changed unless [AllowIdentityChange] is given. Errors are [*PatchError] of kind [Identity],
// [Document] or [Limit].
func Merge(doc, patch any, opts ...Option) (any, error) {
	return call(doc, opts, func(o options) (any, error) { return mergePatch(doc, patch, o) })
}

func mergePatch(doc, patch any, o options) (any, error) {
	patch, err := document.Plain(patch, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	out := merged(doc, patch)
	if err := identityOf(doc).check(out, o); err != nil {
		return nil, err
	}
	return o.detached(out, doc)
}

// merged is the function MergePatch of RFC 7386. The result shares values with both arguments.
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

// detached returns a result for the caller: a copy, unless it may share values with the inputs. If a value of the
// document isn't JSON, the error has the path of the value in the document, which may differ from the path in the
// result.
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
