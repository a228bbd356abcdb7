package smp

import (
	"maps"
	"slices"
	"strconv"

	"github.com/operkit/operkit/smp/internal/document"
)

// DiffJSON makes the JSON patch (RFC 6902) that turns before into after: with it, [JSON] returns a value that equals
// after. before and after may be any JSON values. If they are equal, the result is an empty list. The operations are in
// the form that [JSON] takes. Their order depends on nothing but the values: fields by name, elements of lists by
// index.
//
// Elements of lists are matched by equality. Only add, remove and replace are used. DiffJSON doesn't check that both
// are the same Kubernetes object: if they aren't, [JSON] needs [AllowIdentityChange].
//
// Neither value is changed; the operations share nothing with them unless [Shared] is given. Errors
// are [*PatchError] of kind [Document] or [Limit].
func DiffJSON(before, after any, opts ...Option) ([]any, error) {
	return call(before, opts, func(o options) ([]any, error) { return diffJSON(before, after, o) })
}

func diffJSON(before, after any, o options) ([]any, error) {
	if err := o.checkJSON(before, after); err != nil {
		return nil, err
	}
	d := operationWriter{options: o, operations: []any{}}
	if err := d.diff(before, after, ""); err != nil {
		return nil, err
	}
	return d.operations, nil
}

// operationWriter writes the operations that turn one value into another. Both values have been checked.
type operationWriter struct {
	options
	operations []any
}

// diff writes the operations that turn the value at pointer, before, into after.
func (w *operationWriter) diff(before, after any, pointer string) error {
	switch after := after.(type) {
	case map[string]any:
		if before, both := before.(map[string]any); both && alike(before, after) {
			return w.maps(before, after, pointer)
		}
	case []any:
		if before, both := before.([]any); both && len(before) > 0 && len(after) > 0 {
			return w.lists(before, after, pointer)
		}
	}
	if document.Equal(before, after) {
		return nil
	}
	return w.write("replace", pointer, after)
}

// alike reports whether changing one map into the other is shorter than replacing it.
func alike(before, after map[string]any) bool {
	if len(before) == 0 || len(after) == 0 {
		return len(before)+len(after) <= 1
	}
	for key := range before {
		if _, both := after[key]; both {
			return true
		}
	}
	return false
}

func (w *operationWriter) maps(before, after map[string]any, pointer string) error {
	keys := make([]string, 0, len(before)+len(after))
	keys = slices.AppendSeq(keys, maps.Keys(before))
	keys = slices.AppendSeq(keys, maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		old, had := before[key]
		value, has := after[key]
		var err error
		switch place := pointer + "/" + document.EscapeToken(key); {
		case !has:
			err = w.write("remove", place, nil)
		case !had:
			err = w.write("add", place, value)
		default:
			err = w.diff(old, value, place)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lists writes the difference of two lists. Elements that both lists have in the same order stay. The elements between
// them are changed, removed or added.
func (w *operationWriter) lists(before, after []any, pointer string) error {
	kept, ok := commonElements(before, after)
	if !ok {
		return w.write("replace", pointer, after)
	}
	// shift is added to an index in before to get the element's index after the operations so far.
	i, j, shift := 0, 0, 0
	for _, pair := range append(kept, match{len(before), len(after)}) {
		for i < pair.before && j < pair.after {
			if err := w.diff(before[i], after[j], elementPointer(pointer, i+shift)); err != nil {
				return err
			}
			i, j = i+1, j+1
		}
		for ; i < pair.before; i++ {
			if err := w.write("remove", elementPointer(pointer, i+shift), nil); err != nil {
				return err
			}
			shift--
		}
		for ; j < pair.after; j++ {
			if err := w.write("add", elementPointer(pointer, i+shift), after[j]); err != nil {
				return err
			}
			shift++
		}
		i, j = i+1, j+1
	}
	return nil
}

func elementPointer(pointer string, index int) string {
	return pointer + "/" + strconv.Itoa(index)
}

// write appends an operation. An operation "remove" has no value.
func (w *operationWriter) write(op, pointer string, value any) error {
	operation := map[string]any{"op": op, "path": pointer}
	if op != "remove" {
		value, err := w.own(value)
		if err != nil {
			return err
		}
		operation["value"] = value
	}
	w.operations = append(w.operations, operation)
	return nil
}
