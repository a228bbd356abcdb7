package text

import (
	"strings"
	"unicode"
)

// OneLine returns a text without line breaks and other control characters, and not longer than a number of bytes.
func OneLine(from string, longest int) string {
	if len(from) > longest {
		from = from[:longest] + "..."
	}
	printable := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(from, " "))
	return strings.Join(strings.Fields(printable), " ")
}
