package text

import (
	"strings"
	"unicode"
)

// Cut returns a text that isn't longer than a number of bytes.
func Cut(from string, longest int) string {
	if len(from) <= longest {
		return from
	}
	return strings.ToValidUTF8(from[:longest], "") + "..."
}

// OneLine returns a text without line breaks and other control characters, and not longer than a number of bytes.
func OneLine(from string, longest int) string {
	from = Cut(from, longest)
	printable := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(from, " "))
	return strings.Join(strings.Fields(printable), " ")
}
