package smp

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// JSON applies a JSON patch (RFC 6902) to a document, which may be any JSON value, and returns the result. The patch is
// a list of operations, []any or []map[string]any. An empty list, nil, "" and {} change nothing.
//
// All six operations are supported. A test compares JSON values, so that 80 and 80.0 are equal. Members that an
// operation doesn't define are ignored. The total size of the values that a patch copies, as JSON, is limited (see
// [Within]).
//
// Neither the document nor the patch is changed, and the result shares nothing with them unless [Shared] is given. With
// Shared, parts that the patch doesn't touch aren't checked. The apiVersion, kind, name and namespace of a Kubernetes
// object can't be changed unless [AllowIdentityChange] is given. Errors are [*PatchError]: the message has the index of
// the operation, Path is the operation's path, and Kind is [Invalid], [Pointer], [Conflict], [Test], [Identity],
// [Document] or [Limit].
func JSON(doc, ops any, opts ...Option) (any, error) {
	return call(doc, opts, func(o options) (any, error) { return jsonPatch(doc, ops, o) })
}

func jsonPatch(doc, ops any, o options) (any, error) {
	if o.shared {
		e := editor{options: o, root: doc, maps: map[uintptr]map[string]any{}, lists: map[*any]bool{}}
		err := e.operate(ops)
		return e.root, err
	}
	own, err := document.Clone(doc, o.limits.depth)
	if err != nil {
		return nil, notJSON(err, "")
	}
	return jsonPatchOwn(own, ops, o)
}

// jsonPatchOwn applies a patch to a document in place. Nobody else may use the document.
func jsonPatchOwn(doc, ops any, o options) (any, error) {
	resource := resourceOf(doc)
	e := editor{options: o, root: doc, inPlace: true}
	err := e.operate(ops)
	var patchError *PatchError
	if errors.As(err, &patchError) {
		patchError.Resource = resource
	}
	return e.root, err
}

// operate carries out operations one after the other.
func (e *editor) operate(ops any) error {
	before := identityOf(e.root)
	switch list := ops.(type) {
	case []any:
		for i, value := range list {
			members, isObject := value.(map[string]any)
			if !isObject {
				return &PatchError{Kind: Invalid, Err: fmt.Errorf("operation %d is %s: want an object", i, document.TypeName(value))}
			}
			if err := e.operation(i, members); err != nil {
				return err
			}
		}
	case []map[string]any:
		for i, members := range list {
			if err := e.operation(i, members); err != nil {
				return err
			}
		}
	default:
		if !empty(ops) && ops != "" {
			return &PatchError{Kind: Invalid, Err: fmt.Errorf("a JSON patch is a list of operations, not %s", document.TypeName(ops))}
		}
	}
	return before.check(e.root, e.options)
}

// notJSON makes a *PatchError of err, an error of package document about the value at path.
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
