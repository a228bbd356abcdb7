package smp

import (
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/yaml"
)

// Text is the format of documents and patches: [JSONText] or [YAMLText]. Its methods are the functions of the same name
// for texts instead of values.
//
// A text that can't be read is an error of kind [Document] that names the text and, if known, the line. So is a field
// that an object has twice. A text that is larger or nested deeper than [Within] allows is an error of kind [Limit]. If
// an object is needed, null is an empty object, and any other value is an error of kind [Invalid]. Numbers keep their
// exact values. [Shared] has no effect.
type Text uint8

const (
	// JSONText is JSON (RFC 8259), read strictly: invalid UTF-8 and half of a surrogate pair are errors too. It is
	// written without white space, with the fields of objects in ascending order.
	JSONText Text = iota
	// YAMLText is YAML as kubectl reads it (YAML 1.1). A second document in a text, NaN, and a number with more digits
	// than can be kept are errors. It is written in blocks. Comments are lost, and anchors are resolved.
	YAMLText
)

// Strategic is the function [Strategic] on texts.
func (t Text) Strategic(doc, patch []byte, schema Schema, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return strategic(asObject(values[0]), asObject(values[1]), schema, o)
	}, input{"document", doc, true}, input{"patch", patch, true})
}

// JSON is the function [JSON] on texts.
func (t Text) JSON(doc, ops []byte, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return jsonPatchOwn(values[0], values[1], o)
	}, input{"document", doc, false}, input{"patch", ops, false})
}

// Merge is the function [Merge] on texts.
func (t Text) Merge(doc, patch []byte, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return mergePatch(values[0], values[1], o)
	}, input{"document", doc, false}, input{"patch", patch, false})
}

// Diff is the function [Diff] on texts.
func (t Text) Diff(before, after []byte, schema Schema, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return diff(asObject(values[0]), asObject(values[1]), schema, o)
	}, input{"document before", before, true}, input{"document after", after, true})
}

// Diff3 is the function [Diff3] on texts.
func (t Text) Diff3(original, modified, current []byte, schema Schema, opts ...Option) ([]byte, error) {
	return t.call(opts, 2, func(values []any, o options) (any, error) {
		return diff3(asObject(values[0]), asObject(values[1]), asObject(values[2]), schema, o)
	}, input{"original document", original, true}, input{"modified document", modified, true}, input{"current document", current, true})
}

// DiffJSON is the function [DiffJSON] on texts.
func (t Text) DiffJSON(before, after []byte, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return diffJSON(values[0], values[1], o)
	}, input{"document before", before, false}, input{"document after", after, false})
}

// DiffMerge is the function [DiffMerge] on texts.
func (t Text) DiffMerge(before, after []byte, opts ...Option) ([]byte, error) {
	return t.call(opts, 0, func(values []any, o options) (any, error) {
		return diffMerge(values[0], values[1], o)
	}, input{"document before", before, false}, input{"document after", after, false})
}

// input is one of the texts of a call.
type input struct {
	name   string // for errors
	data   []byte
	object bool // whether the text has to hold an object or null
}

// call decodes texts, calls do with their values, and encodes its result. An error of do names the object in
// texts[subject].
func (t Text) call(opts []Option, subject int, do func(values []any, o options) (any, error), texts ...input) ([]byte, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	o.shared = true // nobody else has the values
	values := make([]any, len(texts))
	size := 64
	for i, text := range texts {
		if values[i], err = t.decode(text, o); err != nil {
			return nil, located(err, nil, o)
		}
		size += len(text.data)
	}
	result, err := do(values, o)
	if err != nil {
		return nil, located(err, values[subject], o)
	}
	out, err := t.encode(make([]byte, 0, size), result)
	if err != nil {
		return nil, located(notJSON(err, ""), values[subject], o)
	}
	return out, nil
}

func (t Text) decode(text input, o options) (value any, err error) {
	switch {
	case len(text.data) > o.limits.bytes:
		return nil, &PatchError{Kind: Limit, Err: fmt.Errorf("the %s is larger than %d bytes", text.name, o.limits.bytes)}
	case t == YAMLText:
		value, err = yaml.Decode(text.data, o.limits.depth)
	default:
		value, err = document.Decode(text.data, o.limits.depth)
	}
	if err != nil {
		return nil, notJSON(fmt.Errorf("%s: %w", text.name, err), "")
	}
	if _, isObject := value.(map[string]any); text.object && !isObject && value != nil {
		return nil, &PatchError{Kind: Invalid, Err: fmt.Errorf("the %s is %s: want an object", text.name, document.TypeName(value))}
	}
	return value, nil
}

func (t Text) encode(dst []byte, value any) ([]byte, error) {
	if t == YAMLText {
		return yaml.Append(dst, value)
	}
	return document.Append(dst, value)
}

// asObject returns the object that a text holds, nil for null.
func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}
