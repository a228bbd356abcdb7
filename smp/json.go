package smp

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// JSON applies a JSON patch (RFC 6902) to a document, which may be any JSON value, and returns the
// result. The patch is a list of operations, []any or []map[string]any; an empty one, and nil, "" and
// {}, change nothing (spec: smp 30).
//
// All six operations are there. A test compares JSON values, so that 80 and 80.0 are equal. Members
// that an operation doesn't have are ignored. A copy is bounded by [MaxBytes]: the values copied by
// one patch are together no larger than that as JSON.
//
// Neither the document nor the patch is changed, also where an operation fails, and the result shares
// nothing with them unless [Shared] is given; then what isn't touched isn't checked either. Of an
// object with apiVersion and kind, these, its name and its namespace can't be changed unless
// [AllowIdentityChange] is given. Errors are [*PatchError], whose message tells the operation by its
// index, whose Path is that of the operation, and whose Kind is [Invalid], [Pointer], [Conflict],
// [Test], [Identity], [Document] or [Limit]; then there is no result.
func JSON(doc, ops any, opts ...Option) (any, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	out, err := jsonPatch(doc, ops, o)
	if err != nil {
		return nil, located(err, doc, o)
	}
	return out, nil
}

func jsonPatch(doc, ops any, o options) (any, error) {
	if o.shared {
		return operate(editor{options: o, root: doc, ours: owned{marked: true}}, ops)
	}
	root, err := document.Clone(doc, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	return operate(editor{options: o, root: root, cloneValues: true}, ops)
}

// jsonPatchOwn applies a patch to a document, both of which nobody else has: they are used up.
func jsonPatchOwn(doc, ops any, o options) (any, error) {
	resource := resourceOf(doc)
	out, err := operate(editor{options: o, root: doc}, ops)
	var patchError *PatchError
	if errors.As(err, &patchError) {
		patchError.Resource = resource
	}
	return out, err
}

// operate carries out operations one after the other.
func operate(e editor, ops any) (any, error) {
	before := identityOf(e.root)
	switch list := ops.(type) {
	case []any:
		for i, value := range list {
			members, isObject := value.(map[string]any)
			if !isObject {
				return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("operation %d is %s: want an object", i, typeName(value))}
			}
			if err := e.operation(i, members); err != nil {
				return nil, err
			}
		}
	case []map[string]any:
		for i, members := range list {
			if err := e.operation(i, members); err != nil {
				return nil, err
			}
		}
	default:
		if !empty(ops) && ops != "" {
			return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("a JSON patch is a list of operations, not %s", typeName(ops))}
		}
	}
	if err := before.check(e.root, e.options); err != nil {
		return nil, err
	}
	return e.root, nil
}

// notJSON is the error about a value at a path that package document refused.
func notJSON(err error, path string) error {
	kind := Document
	if errors.Is(err, document.ErrDepth) {
		kind = Limit
	}
	var inner *document.ValueError
	if errors.As(err, &inner) {
		path, err = path+inner.Path, inner.Err
	}
	return &PatchError{Path: path, Kind: kind, Err: err}
}
