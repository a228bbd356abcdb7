package openapi

import (
	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// merging returns the type and the strategy of a place: by x-kubernetes-patch-strategy and
// x-kubernetes-patch-merge-key, or without these by x-kubernetes-list-type and x-kubernetes-map-type.
func (r *reader) merging(n node, t *schema.Type) schema.Place {
	place := schema.Place{Type: t}
	strategy, hasStrategy := value[string](r, n, "x-kubernetes-patch-strategy")
	key, hasKey := value[string](r, n, "x-kubernetes-patch-merge-key")
	switch {
	case hasStrategy || hasKey:
		r.byPatchStrategy(&place, n, strategy, key)
	case n.tagged:
	case t.Shape == schema.List:
		r.byListType(&place, n)
	default:
		r.byMapType(&place, n)
	}
	return place
}

func (r *reader) byPatchStrategy(place *schema.Place, n node, strategy, key string) {
	parsed, err := schema.ParseStrategy(strategy)
	if err != nil {
		r.fail(schema.Malformed, n.at.to("x-kubernetes-patch-strategy"), "%w", err)
		return
	}
	place.Strategy = parsed
	if place.Type.Shape != schema.List || parsed&schema.Merge == 0 || r.scalars(n) {
		return
	}
	if key == "" {
		r.fail(schema.Malformed, n.at, "x-kubernetes-patch-strategy merge of a list of objects needs an x-kubernetes-patch-merge-key")
		return
	}
	place.Keys = []schema.Key{{Name: key}}
}

func (r *reader) byListType(place *schema.Place, n node) {
	n = r.described(n, "x-kubernetes-list-type", "x-kubernetes-list-map-keys")
	listType, _ := value[string](r, n, "x-kubernetes-list-type")
	names := r.texts(n, "x-kubernetes-list-map-keys")
	switch {
	case listType == "map" || listType == "" && len(names) > 0:
		if len(names) == 0 {
			r.fail(schema.Malformed, n.at, "x-kubernetes-list-type map needs x-kubernetes-list-map-keys")
			return
		}
		place.Strategy = schema.Merge
		place.Keys = r.keys(n, names)
	case listType == "set":
		// A patch can't address one object in a set of objects.
		if r.scalars(n) {
			place.Strategy = schema.Merge
		}
	case listType != "" && listType != "atomic":
		r.fail(schema.Malformed, n.at.to("x-kubernetes-list-type"), "%q is none of atomic, map and set", listType)
	}
}

func (r *reader) byMapType(place *schema.Place, n node) {
	n = r.described(n, "x-kubernetes-map-type")
	switch mapType, _ := value[string](r, n, "x-kubernetes-map-type"); mapType {
	case "", "granular":
	case "atomic":
		place.Strategy = schema.Replace
	default:
		r.fail(schema.Malformed, n.at.to("x-kubernetes-map-type"), "%q is none of atomic and granular", mapType)
	}
}

// keys returns the keys of a list. The default of a key is for elements that don't have the key.
func (r *reader) keys(n node, names []string) []schema.Key {
	items, _ := r.child(r.target(n), "items")
	items = r.target(items)
	properties, _ := r.child(items, "properties")
	keys := make([]schema.Key, len(names))
	for i, name := range names {
		keys[i].Name = name
		property, found := r.child(properties, name)
		if !found || property.fields["default"] == nil {
			continue
		}
		plain, ok := document.Scalar(property.fields["default"])
		if !ok {
			r.fail(schema.Malformed, property.at.to("default"), "the default of a key is %s, not a scalar", document.TypeName(property.fields["default"]))
		}
		keys[i].Default = plain
	}
	return keys
}

// scalars reports whether a list is known to hold scalars.
func (r *reader) scalars(n node) bool {
	items, found := r.child(r.target(n), "items")
	if !found {
		return false
	}
	items = r.target(items)
	return r.intOrString(items) || len(r.allOf(items)) == 0 && r.kind(items) == "scalar"
}

// described returns n itself if it has one of the keys, otherwise the node that n refers to.
func (r *reader) described(n node, keys ...string) node {
	for _, key := range keys {
		if n.fields[key] != nil {
			return n
		}
	}
	return r.target(n)
}

// target follows references, including a reference that is wrapped in another schema.
func (r *reader) target(n node) node {
	for range maxDepth {
		if ref, found := value[string](r, n, "$ref"); found {
			next, ok := r.lookup(ref, n.at.to("$ref"))
			if !ok {
				return n
			}
			n = next
			continue
		}
		parts := r.allOf(n)
		if len(parts) != 1 {
			return n
		}
		n = parts[0]
	}
	return n
}
