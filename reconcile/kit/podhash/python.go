package podhash

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// appendPython appends value as Python's json.dumps writes it with sort_keys: a space after commas and colons, and only
// ASCII.
func appendPython(to []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, v)
	case string:
		return appendPythonText(to, v)
	case float64:
		return append(to, pythonFloat(v)...)
	case map[string]any:
		to = append(to, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = append(appendPythonText(to, key), ": "...)
			to = appendPython(to, v[key])
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for i, item := range v {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = appendPython(to, item)
		}
		return append(to, ']')
	}
	return fmt.Append(to, value) // integers
}

func appendPythonText(to []byte, text string) []byte {
	to = append(to, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			to = append(to, '\\', byte(r))
		case r >= ' ' && r <= '~':
			to = append(to, byte(r))
		case strings.ContainsRune("\n\r\t\b\f", r):
			to = append(to, '\\', "nrtbf"[strings.IndexRune("\n\r\t\b\f", r)])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			to = fmt.Appendf(to, `\u%04x\u%04x`, high, low)
		default:
			to = fmt.Appendf(to, `\u%04x`, r)
		}
	}
	return append(to, '"')
}

// pythonFloat writes a number as Python does: with a decimal point, or with an exponent if it is very large or small.
func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(fmt.Sprintf("%+v", f), "+") + "inity"
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
