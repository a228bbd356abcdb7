package yaml

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
)

// longKey is the length in bytes above which a key needs its own line.
const longKey = 500

// step is the indentation of the values of a map. Lists in maps aren't indented.
const step = 2

// Append writes value as a YAML document to the end of dst, with the keys of maps in ascending order.
// Errors are those of [document.Append].
func Append(dst []byte, value any) ([]byte, error) {
	// document.Append returns an error with the path of a value that isn't JSON.
	if _, err := document.Append(nil, value); err != nil {
		return nil, err
	}
	e := encoder{dst: dst}
	e.value(value, 0, 0)
	return e.dst, nil
}

// encoder writes a value that has been checked.
type encoder struct{ dst []byte }

// value writes a value. Its first line continues the current line. columns is the column where the other lines of a map
// start, lists the column where the other lines of a list start.
func (e *encoder) value(value any, columns, lists int) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 {
			e.object(v, columns)
			return
		}
		e.line("{}")
	case []any:
		if len(v) > 0 {
			e.list(v, lists)
			return
		}
		e.line("[]")
	case string:
		if literal, ok := block(v, strings.Repeat(" ", max(columns, step))); ok {
			e.line(literal)
			return
		}
		e.line(scalar(v))
	default:
		text, _ := document.Append(nil, v)
		e.line(string(text))
	}
}

func (e *encoder) object(object map[string]any, column int) {
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			e.indent(column)
		}
		if text := scalar(key); len(text) > longKey {
			e.line("? " + text)
			e.indent(column)
		} else {
			e.dst = append(e.dst, text...)
		}
		e.dst = append(e.dst, ':')
		e.field(object[key], column)
	}
}

// field writes the value behind a colon.
func (e *encoder) field(value any, column int) {
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	switch {
	case len(object) > 0:
		e.line("")
		e.indent(column + step)
	case len(list) > 0:
		e.line("")
		e.indent(column)
	default:
		e.dst = append(e.dst, ' ')
	}
	e.value(value, column+step, column)
}

func (e *encoder) list(list []any, column int) {
	for i, element := range list {
		if i > 0 {
			e.indent(column)
		}
		e.dst = append(e.dst, "- "...)
		e.value(element, column+step, column+step)
	}
}

func (e *encoder) indent(column int) {
	for range column {
		e.dst = append(e.dst, ' ')
	}
}

func (e *encoder) line(text string) {
	e.dst = append(e.dst, text...)
	e.dst = append(e.dst, '\n')
}
