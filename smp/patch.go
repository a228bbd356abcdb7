package smp

import "fmt"

// Type is how a patch is written, as in spec.patchType of a TemporaryPatch.
type Type string

// The types of patches.
const (
	// StrategicMerge is a strategic merge patch.
	StrategicMerge Type = "patchStrategicMerge"
	// JSON6902 is a list of operations of RFC 6902.
	JSON6902 Type = "patchJson6902"
)

// Patch is a patch of either type with a name by which errors call it. It is safe for concurrent use
// as long as nobody writes to its body.
type Patch struct {
	// Name is what errors call it, Type says what Body is.
	Name string
	Type Type
	// Body is the patch itself: a map[string]any for StrategicMerge, a []any for JSON6902. nil and
	// empty ones change nothing.
	Body any
}

// Apply applies the patch to an object and returns the result. Several are applied one after the
// other, each to the result of the one before (spec: smp 6). An unknown type is an error of kind
// [Invalid], also where the body is empty (spec: smp 5). Otherwise it does what [Strategic] and
// [JSON] do; apiVersion, kind, name and namespace are guarded in both.
func (p Patch) Apply(doc map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if o.name == "" {
		o.name = p.Name
	}
	out, err := p.apply(doc, schema, o)
	if err != nil {
		return nil, located(err, doc, o)
	}
	return out, nil
}

func (p Patch) apply(doc map[string]any, schema Schema, o options) (map[string]any, error) {
	switch p.Type {
	case StrategicMerge:
		if empty(p.Body) {
			return strategic(doc, nil, schema, o)
		}
		patch, isMap := p.Body.(map[string]any)
		if !isMap {
			return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("a %s is an object, not %s", p.Type, typeName(p.Body))}
		}
		return strategic(doc, patch, schema, o)
	case JSON6902:
		out, err := jsonPatch(doc, p.Body, o)
		if err != nil {
			return nil, err
		}
		object, isMap := out.(map[string]any)
		if !isMap {
			return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("the patch makes %s of the object", typeName(out))}
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
