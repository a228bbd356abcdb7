package document

import (
	"errors"
	"fmt"
	"strings"
)

// Decode reads one JSON value (RFC 8259) from text, which may have white space around it.
//
// depth is the number of levels that containers may be nested; with 0, the value may not be a container. Errors are
// always a [*SyntaxError]: a violation of the grammar, a key that an object has twice, invalid UTF-8, an escaped half
// of a surrogate pair, a second value behind the first, and too much nesting (wrapping [ErrDepth]).
//
// The strings of the result share one copy of the text, which stays in memory as long as one of them does.
func Decode(text []byte, depth int) (any, error) {
	limit := min(depth, maxDepth)
	d := decoder{text: string(text), depth: limit, limit: limit, items: make([]any, 0, 64)}
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.text) {
		return nil, d.unexpected("the end of the text")
	}
	return value, nil
}

// decoder reads a text from its start to its end.
type decoder struct {
	text string
	pos  int
	// depth is the number of levels that may still be entered, limit the number of levels that are allowed in all.
	depth, limit int
	// items are the elements of the lists that are being read, the innermost list last. At the end of a list, its
	// elements are copied into a slice of the right size.
	items []any
}

// value reads a value and the white space before it.
func (d *decoder) value() (any, error) {
	d.space()
	if d.pos == len(d.text) {
		return nil, d.unexpected("a value")
	}
	switch c := d.text[d.pos]; c {
	case '"':
		s, err := d.string()
		return s, err
	case '{':
		return d.object()
	case '[':
		return d.list()
	case 't':
		return true, d.literal("true")
	case 'f':
		return false, d.literal("false")
	case 'n':
		return nil, d.literal("null")
	default:
		if c == '-' || c-'0' <= 9 {
			return d.number()
		}
		return nil, d.unexpected("a value")
	}
}

func (d *decoder) object() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	object := make(map[string]any)
	for more, err := d.more('}', true); more || err != nil; more, err = d.more('}', false) {
		if err != nil {
			return nil, err
		}
		offset := d.pos
		if offset == len(d.text) || d.text[offset] != '"' {
			return nil, d.unexpected("a key in quotes")
		}
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if d.space(); d.pos == len(d.text) || d.text[d.pos] != ':' {
			return nil, d.unexpected("a colon after the key")
		}
		d.pos++
		value, err := d.value()
		if err != nil {
			return nil, err
		}
		// If the object doesn't grow, it had the key already. This needs only one look-up for each key.
		known := len(object)
		if object[key] = value; len(object) == known {
			return nil, d.fail(offset, fmt.Errorf("the key %q comes twice in one object: keep one of them", key))
		}
	}
	d.depth++
	return object, nil
}

func (d *decoder) list() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	start := len(d.items)
	for more, err := d.more(']', true); more || err != nil; more, err = d.more(']', false) {
		if err != nil {
			return nil, err
		}
		value, err := d.value()
		if err != nil {
			return nil, err
		}
		d.items = append(d.items, value)
	}
	d.depth++
	list := make([]any, len(d.items)-start)
	copy(list, d.items[start:])
	d.items = d.items[:start]
	return list, nil
}

// enter steps over the bracket that opens a container.
func (d *decoder) enter() error {
	if d.depth <= 0 {
		return d.fail(d.pos, tooDeep(d.limit))
	}
	d.depth--
	d.pos++
	return nil
}

// more reports whether a container has another member. It steps over the comma before that member, or over the end of
// the container. first is set before the first member.
func (d *decoder) more(end byte, first bool) (bool, error) {
	d.space()
	switch {
	case d.pos < len(d.text) && d.text[d.pos] == end:
		d.pos++
		return false, nil
	case first:
		return true, nil
	case d.pos < len(d.text) && d.text[d.pos] == ',':
		d.pos++
		d.space()
		return true, nil
	}
	return false, d.unexpected(fmt.Sprintf("a comma or %q", end))
}

func (d *decoder) literal(word string) error {
	if !strings.HasPrefix(d.text[d.pos:], word) {
		return d.unexpected("a value")
	}
	d.pos += len(word)
	return nil
}

func (d *decoder) number() (any, error) {
	end, ok := scanNumber(d.text, d.pos)
	if !ok {
		d.pos = end
		return nil, d.unexpected("a number as JSON writes it")
	}
	literal := d.text[d.pos:end]
	d.pos = end
	return number(literal), nil
}

func (d *decoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\n', '\t', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) unexpected(expected string) error {
	if d.pos >= len(d.text) {
		return d.fail(len(d.text), errors.New("the text ends where "+expected+" is expected"))
	}
	return d.fail(d.pos, fmt.Errorf("%q where %s is expected", d.text[d.pos], expected))
}

func (d *decoder) fail(offset int, err error) error {
	return &SyntaxError{Offset: offset, Line: 1 + strings.Count(d.text[:offset], "\n"), Err: err}
}
