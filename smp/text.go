package smp

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/yaml"
)

// textForm is a way to write values as text.
type textForm struct {
	decode func(text []byte, depth int) (any, error)
	encode func(dst []byte, value any) ([]byte, error)
}

var (
	jsonText = textForm{decode: document.Decode, encode: document.Append}
	yamlText = textForm{decode: yaml.Decode, encode: yaml.Append}
)

// input is one of the texts of a call.
type input struct {
	// name is for errors.
	name string
	data []byte
}

// values decodes texts.
func (f textForm) values(o options, texts ...input) ([]any, error) {
	values := make([]any, len(texts))
	for i, t := range texts {
		if len(t.data) > o.limits.bytes {
			return nil, &PatchError{Patch: o.name, Kind: Limit, Err: fmt.Errorf("the %s is larger than %d bytes", t.name, o.limits.bytes)}
		}
		value, err := f.decode(t.data, o.limits.depth)
		if err != nil {
			kind := Document
			if errors.Is(err, document.ErrDepth) {
				kind = Limit
			}
			return nil, &PatchError{Patch: o.name, Kind: kind, Err: fmt.Errorf("%s: %w", t.name, err)}
		}
		values[i] = value
	}
	return values, nil
}

// objects decodes texts that have to be objects; null is one without fields.
func (f textForm) objects(o options, texts ...input) ([]map[string]any, error) {
	values, err := f.values(o, texts...)
	if err != nil {
		return nil, err
	}
	objects := make([]map[string]any, len(values))
	for i, value := range values {
		object, isObject := value.(map[string]any)
		if !isObject && value != nil {
			return nil, &PatchError{Patch: o.name, Kind: Invalid, Err: fmt.Errorf("the %s is %s: want an object", texts[i].name, typeName(value))}
		}
		objects[i] = object
	}
	return objects, nil
}

// encoded is the text of a call's result, which is about as long as the inputs together, or the error,
// which is about doc.
func (f textForm) encoded(result any, err error, doc any, o options, texts ...input) ([]byte, error) {
	if err != nil {
		return nil, located(err, doc, o)
	}
	size := 64
	for _, t := range texts {
		size += len(t.data)
	}
	out, err := f.encode(make([]byte, 0, size), result)
	if err != nil {
		return nil, located(notJSON(err, ""), doc, o)
	}
	return out, nil
}

// textOptions are the options of a call on texts. Nobody else has the values between texts, so that
// they can be shared.
func textOptions(opts []Option) (options, error) {
	o, err := newOptions(opts)
	o.shared = true
	return o, err
}

func (f textForm) strategic(doc, patch []byte, schema Schema, opts []Option) ([]byte, error) {
	o, err := textOptions(opts)
	if err != nil {
		return nil, err
	}
	texts := []input{{"document", doc}, {"patch", patch}}
	values, err := f.objects(o, texts...)
	if err != nil {
		return nil, err
	}
	out, err := strategic(values[0], values[1], schema, o)
	return f.encoded(out, err, values[0], o, texts...)
}

func (f textForm) diff(before, after []byte, schema Schema, opts []Option) ([]byte, error) {
	o, err := textOptions(opts)
	if err != nil {
		return nil, err
	}
	values, err := f.objects(o, input{"document before", before}, input{"document after", after})
	if err != nil {
		return nil, err
	}
	out, err := diff(values[0], values[1], schema, o)
	return f.encoded(out, err, values[0], o)
}

func (f textForm) diff3(original, modified, current []byte, schema Schema, opts []Option) ([]byte, error) {
	o, err := textOptions(opts)
	if err != nil {
		return nil, err
	}
	values, err := f.objects(o, input{"original document", original}, input{"modified document", modified}, input{"current document", current})
	if err != nil {
		return nil, err
	}
	out, err := diff3(values[0], values[1], values[2], schema, o)
	return f.encoded(out, err, values[2], o)
}

// pair decodes two texts, which may hold anything, and encodes what do makes of them.
func (f textForm) pair(do func(first, second any, o options) (any, error), first, second input, opts []Option) ([]byte, error) {
	o, err := textOptions(opts)
	if err != nil {
		return nil, err
	}
	values, err := f.values(o, first, second)
	if err != nil {
		return nil, err
	}
	out, err := do(values[0], values[1], o)
	return f.encoded(out, err, values[0], o, first, second)
}

func (f textForm) json(doc, ops []byte, opts []Option) ([]byte, error) {
	return f.pair(jsonPatchOwn, input{"document", doc}, input{"patch", ops}, opts)
}

func (f textForm) merge(doc, patch []byte, opts []Option) ([]byte, error) {
	return f.pair(mergePatch, input{"document", doc}, input{"patch", patch}, opts)
}

func (f textForm) diffJSON(before, after []byte, opts []Option) ([]byte, error) {
	do := func(before, after any, o options) (any, error) { return diffJSON(before, after, o) }
	return f.pair(do, input{"document before", before}, input{"document after", after}, opts)
}

func (f textForm) diffMerge(before, after []byte, opts []Option) ([]byte, error) {
	return f.pair(diffMerge, input{"document before", before}, input{"document after", after}, opts)
}
