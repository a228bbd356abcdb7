package smp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
)

// pastEnd is the token that names the place behind the last element of a list.
const pastEnd = "-"

// parsePointer appends the tokens of a JSON pointer (RFC 6901) to tokens, with their escapes undone.
func parsePointer(tokens []string, pointer string) ([]string, error) {
	if pointer == "" {
		return tokens, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON pointer: begin it with a slash", pointer)
	}
	for rest, more := pointer[1:], true; more; {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		if strings.IndexByte(token, '~') >= 0 {
			var err error
			if token, err = unescape(token); err != nil {
				return nil, fmt.Errorf("%q is no JSON pointer: %w", pointer, err)
			}
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

var errTilde = errors.New("write ~0 for a tilde and ~1 for a slash in a name")

func unescape(token string) (string, error) {
	if rest := strings.NewReplacer("~0", "", "~1", "").Replace(token); strings.Contains(rest, "~") {
		return "", errTilde
	}
	return strings.NewReplacer("~0", "~", "~1", "/").Replace(token), nil
}

// maxIndexDigits is the maximum number of digits in an index, so that it fits into an int. No list needs more.
const maxIndexDigits = 9

// listIndex reads a token as an index below end: digits without leading zeros.
func listIndex(token string, end int) (int, error) {
	index := 0
	for i := range len(token) {
		digit := token[i] - '0'
		if digit > 9 {
			return 0, &PatchError{Kind: Pointer, Err: fmt.Errorf("%q is no index of a list", token)}
		}
		if i < maxIndexDigits {
			index = index*10 + int(digit)
		}
	}
	switch {
	case token == "" || token[0] == '0' && len(token) > 1:
		return 0, &PatchError{Kind: Pointer, Err: fmt.Errorf("%q is no index of a list: write it without leading zeros", token)}
	case len(token) > maxIndexDigits || index >= end:
		return 0, &PatchError{Kind: Conflict, Err: fmt.Errorf("the index %s is out of range", token)}
	}
	return index, nil
}

// path is a place in a document, from its root.
type path []step

// step is one level of a path: a field of a map, or an index of a list.
type step struct {
	field string
	index int
	list  bool
}

// String returns the path as a JSON pointer (RFC 6901).
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.list {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(document.EscapeToken(s.field))
		}
	}
	return b.String()
}
