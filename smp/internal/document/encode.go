package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append writes value as JSON without white space to the end of dst, with the keys of objects in ascending order. Only
// the characters that JSON requires are escaped, so that text stays legible.
//
// An error is always a [*ValueError]: a Go type that isn't JSON, NaN and infinities, a string that isn't UTF-8, data
// that contains itself. With an error, the result is nil.
func Append(dst []byte, value any) ([]byte, error) {
	e := encoder{dst: dst, depth: maxDepth, members: make([]entry, 0, 64)}
	if err := e.value(value).finish(); err != nil {
		return nil, err
	}
	return e.dst, nil
}

type encoder struct {
	dst   []byte
	depth int
	// members are the members of the objects that are being written, the innermost object last.
	members []entry
}

type entry struct {
	key   string
	value any
}

func (e *encoder) value(value any) *ValueError {
	switch v := value.(type) {
	case string:
		return e.string(v)
	case map[string]any:
		return e.object(v)
	case []any:
		return e.list(v)
	case bool:
		e.dst = strconv.AppendBool(e.dst, v)
	case nil:
		e.dst = append(e.dst, "null"...)
	case int64:
		e.dst = strconv.AppendInt(e.dst, v, 10)
	default:
		return e.number(value)
	}
	return nil
}

func (e *encoder) number(value any) *ValueError {
	n, err := scalarOrError(value)
	if err != nil {
		return &ValueError{Err: err}
	}
	switch n := n.(type) {
	case int64:
		e.dst = strconv.AppendInt(e.dst, n, 10)
	case float64:
		e.dst = appendFloat(e.dst, n)
	case json.Number:
		e.dst = append(e.dst, n...)
	}
	return nil
}

func (e *encoder) object(object map[string]any) *ValueError {
	if e.depth == 0 {
		return &ValueError{Err: tooDeep(maxDepth)}
	}
	e.depth--
	start := len(e.members)
	for key, value := range object {
		e.members = append(e.members, entry{key, value})
	}
	end := len(e.members)
	slices.SortFunc(e.members[start:end], func(a, b entry) int { return strings.Compare(a.key, b.key) })
	e.dst = append(e.dst, '{')
	for i := start; i < end; i++ {
		if i > start {
			e.dst = append(e.dst, ',')
		}
		// By index, because deeper objects append to members, which may move in memory.
		if err := e.string(e.members[i].key); err != nil {
			return err.in(e.members[i].key)
		}
		e.dst = append(e.dst, ':')
		if err := e.value(e.members[i].value); err != nil {
			return err.in(e.members[i].key)
		}
	}
	e.dst = append(e.dst, '}')
	e.members = e.members[:start]
	e.depth++
	return nil
}

func (e *encoder) list(list []any) *ValueError {
	if e.depth == 0 {
		return &ValueError{Err: tooDeep(maxDepth)}
	}
	e.depth--
	e.dst = append(e.dst, '[')
	for i, value := range list {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		if err := e.value(value); err != nil {
			return err.at(i)
		}
	}
	e.dst = append(e.dst, ']')
	e.depth++
	return nil
}

func (e *encoder) string(s string) *ValueError {
	for i := range len(s) {
		if !plain[s[i]] {
			return e.escapedString(s)
		}
	}
	e.dst = append(e.dst, '"')
	e.dst = append(e.dst, s...)
	e.dst = append(e.dst, '"')
	return nil
}

var errUTF8 = errors.New("the string is not valid UTF-8")

func (e *encoder) escapedString(s string) *ValueError {
	if !utf8.ValidString(s) {
		return &ValueError{Err: errUTF8}
	}
	e.dst = append(e.dst, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if plain[c] || c >= utf8.RuneSelf {
			continue
		}
		e.dst = append(e.dst, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			e.dst = append(e.dst, '\\', c)
		case '\n':
			e.dst = append(e.dst, `\n`...)
		case '\r':
			e.dst = append(e.dst, `\r`...)
		case '\t':
			e.dst = append(e.dst, `\t`...)
		default:
			e.dst = fmt.Appendf(e.dst, `\u%04x`, c)
		}
	}
	e.dst = append(e.dst, s[done:]...)
	e.dst = append(e.dst, '"')
	return nil
}
