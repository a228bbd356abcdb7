package smp

import (
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// Type is the format of a patch, as in spec.patchType of a TemporaryPatch.
type Type string

// The types of patches.
const (
	// StrategicMerge is a strategic merge patch.
	StrategicMerge Type = "patchStrategicMerge"
	// JSON6902 is a list of operations of RFC 6902.
	JSON6902 Type = "patchJson6902"
)

// Patch is a patch of either type, with a name for errors. It is safe for concurrent use as long as nobody writes to
// its body.
type Patch struct {
	// Name is the name in errors. Type is the format of Body.
	Name string
	Type Type
	// Body is the patch itself: a map[string]any for StrategicMerge, a []any for JSON6902. A nil or empty body changes
	// nothing.
	Body any
}

// Apply applies the patch to an object and returns the result. To apply several patches, apply each to the result of
// the one before. An unknown type is an error of kind [Invalid], even if the body is empty. Otherwise Apply does what
// [Strategic] or [JSON] does; both refuse to change apiVersion, kind, name and namespace.
func (p Patch) Apply(doc map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	return call(doc, append([]Option{Named(p.Name)}, opts...), func(o options) (map[string]any, error) { return p.apply(doc, schema, o) })
}

func (p Patch) apply(doc map[string]any, schema Schema, o options) (map[string]any, error) {
	switch p.Type {
	case StrategicMerge:
		patch, isMap := p.Body.(map[string]any)
		if !isMap && !empty(p.Body) {
			return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("a %s is an object, not %s", p.Type, document.TypeName(p.Body))}
		}
		return strategic(doc, patch, schema, o)
	case JSON6902:
		out, err := jsonPatch(doc, p.Body, o)
		if err != nil {
			return nil, err
		}
		object, isMap := out.(map[string]any)
		if !isMap {
			return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("the patch turns the object into %s", document.TypeName(out))}
		}
		before := identityOf(doc)
		before.known = true
		if err := before.check(object, o); err != nil {
			return nil, err
		}
		return object, nil
	default:
		return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("unknown type of patch %q: want %s or %s", p.Type, StrategicMerge, JSON6902)}
	}
}

// empty reports whether a patch has no content.
func empty(body any) bool {
	switch body := body.(type) {
	case nil:
		return true
	case map[string]any:
		return len(body) == 0
	case []any:
		return len(body) == 0
	default:
		return false
	}
}
