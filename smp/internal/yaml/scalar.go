package yaml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// words are the words that YAML 1.1 doesn't read as strings, in lower case.
var words = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
	"true": true, "false": true, "null": true,
}

// scalar writes a string. The string is in quotes if a reader could read it as another type.
func scalar(s string) string {
	if plain(s) {
		return s
	}
	return quoted(s)
}

// plain returns true only for strings that need no quotes. It also returns false for many strings that need none.
func plain(s string) bool {
	if s == "" || words[strings.ToLower(s)] || strings.HasSuffix(s, " ") || strings.HasSuffix(s, ":") ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && !digit(c) && strings.IndexByte("_-./@+=,:;()$^%*&!?#~ ", c) < 0 {
			return false
		}
	}
	switch {
	case letter(s[0]) || s[0] == '/':
		return true
	case digit(s[0]):
		// No number or time contains one of these letters. Quantities often do.
		return strings.ContainsAny(s, "ghijklmnpqrsuvwyGHIJKLMNPQRSUVWY")
	default:
		return false
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// quoted writes a string in double quotes, in one line.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case printable(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable reports whether a character may stand in a YAML text and doesn't end a line.
func printable(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == utf8.RuneError:
		return false
	default:
		return r < 0xfffe || r > 0xffff
	}
}

// block writes a text of several lines as lines below the current one. ok is false if that could lose a part of the
// text.
func block(s, indent string) (text string, ok bool) {
	body, ended := strings.CutSuffix(s, "\n")
	if !strings.Contains(s, "\n") || body == "" || strings.HasSuffix(body, "\n") || strings.ContainsRune(" \t\n", rune(body[0])) {
		return "", false
	}
	for _, r := range body {
		if r != '\n' && r != '\t' && !printable(r) {
			return "", false
		}
	}
	var b strings.Builder
	b.WriteString("|")
	if !ended {
		b.WriteString("-")
	}
	for line := range strings.SplitSeq(body, "\n") {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString(indent)
			b.WriteString(line)
		}
	}
	return b.String(), true
}
