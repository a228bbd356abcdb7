package smp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// identify returns the identity of an element of a list: the value of its key, or the values of all its keys. ok is
// false when a key is missing or isn't a scalar, and missing is the name of that key.
func identify(element map[string]any, keys []schema.Key) (id any, missing string, ok bool) {
	if len(keys) == 1 {
		id, ok = keyValue(element, keys[0])
		return id, keys[0].Name, ok
	}
	var b strings.Builder
	for _, key := range keys {
		value, ok := keyValue(element, key)
		if !ok {
			return nil, key.Name, false
		}
		writeScalar(&b, value)
	}
	return b.String(), "", true
}

// elementID returns the identity of an element of a merged list: the result of identify for an object, and the scalar
// itself in a list without keys.
func elementID(element any, keys []schema.Key) (id any, ok bool) {
	if len(keys) == 0 {
		return document.Scalar(element)
	}
	object, isMap := element.(map[string]any)
	if !isMap {
		return nil, false
	}
	id, _, ok = identify(object, keys)
	return id, ok
}

func keyValue(element map[string]any, key schema.Key) (any, bool) {
	value, found := element[key.Name]
	if !found {
		value = key.Default
	}
	return document.Scalar(value)
}

// writeScalar writes a scalar of [document.Scalar] so that different scalars have different texts.
func writeScalar(b *strings.Builder, scalar any) {
	if text, isText := scalar.(string); isText {
		scalar = strconv.Quote(text)
	}
	_, _ = fmt.Fprint(b, scalar, ",") // a Builder never fails
}

// describe returns the name of an element for errors; keys are the keys that identify it.
func describe(id any, keys []schema.Key) string {
	if len(keys) > 1 {
		names := make([]string, len(keys))
		for i, key := range keys {
			names[i] = key.Name
		}
		return strings.TrimSuffix(id.(string), ",") + " (" + strings.Join(names, ", ") + ")"
	}
	var b strings.Builder
	writeScalar(&b, id)
	return strings.TrimSuffix(b.String(), ",")
}
