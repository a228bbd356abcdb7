package rule

import "strings"

// mentions reports whether an expression uses a name outside of texts and comments.
func mentions(expression, name string) bool {
	for i := 0; i < len(expression); {
		switch c := expression[i]; {
		case strings.HasPrefix(expression[i:], "//"):
			if end := strings.IndexByte(expression[i:], '\n'); end >= 0 {
				i += end
				continue
			}
			return false
		case c == '"' || c == '\'':
			i = afterText(expression, i, isRaw(expression, i))
		case isLetter(c):
			end := i
			for end < len(expression) && (isLetter(expression[end]) || expression[end] >= '0' && expression[end] <= '9') {
				end++
			}
			if expression[i:end] == name && !isMember(expression, i) {
				return true
			}
			i = end
		default:
			i++
		}
	}
	return false
}

// isMember reports whether the name that begins at start is that of a field of something, as in a.name.
func isMember(expression string, start int) bool {
	before := strings.TrimRight(expression[:start], " \t\r\n")
	return strings.HasSuffix(before, ".") || strings.HasSuffix(before, ".?")
}

// isRaw reports whether the quote at i begins a raw text, in which a backslash is nothing special.
func isRaw(expression string, i int) bool {
	for j := i - 1; j >= 0 && j >= i-2 && isLetter(expression[j]); j-- {
		if c := expression[j]; c == 'r' || c == 'R' {
			return true
		}
	}
	return false
}

// afterText returns where the text ends whose quote is at i.
func afterText(expression string, i int, raw bool) int {
	quote := expression[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(expression[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(expression); i++ {
		switch {
		case expression[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(expression[i:], quote):
			return i + len(quote)
		}
	}
	return len(expression)
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
