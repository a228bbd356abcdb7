package document

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// plain reports for each byte whether it stands for itself in a string and is ASCII.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// string reads the string that starts at the current quote.
func (d *decoder) string() (string, error) {
	start := d.pos + 1
	pos := start
	for pos < len(d.text) && plain[d.text[pos]] {
		pos++
	}
	if pos < len(d.text) && d.text[pos] == '"' {
		d.pos = pos + 1
		return d.text[start:pos], nil
	}
	return d.longString(start, pos)
}

// longString reads a string that has an escape or a non-ASCII character at pos.
func (d *decoder) longString(start, pos int) (string, error) {
	// After the first escape, buffer holds the decoded text up to the index done.
	var buffer []byte
	done := start
	for pos < len(d.text) {
		switch c := d.text[pos]; {
		case plain[c]:
			pos++
		case c == '"':
			d.pos = pos + 1
			if buffer == nil {
				return d.text[start:pos], nil
			}
			return string(append(buffer, d.text[done:pos]...)), nil
		case c == '\\':
			var err error
			buffer = append(buffer, d.text[done:pos]...)
			if buffer, pos, err = d.escape(buffer, pos); err != nil {
				return "", err
			}
			done = pos
		case c < ' ':
			return "", d.fail(pos, fmt.Errorf("the control character %#02x in a string must be written as an escape", c))
		default:
			r, size := utf8.DecodeRuneInString(d.text[pos:])
			if r == utf8.RuneError && size == 1 {
				return "", d.fail(pos, fmt.Errorf("the byte %#02x is not valid UTF-8", c))
			}
			pos += size
		}
	}
	return "", d.fail(len(d.text), fmt.Errorf("the text ends in the string that starts at offset %d", start-1))
}

// escape appends the character of the escape at pos, and returns the end of the escape.
func (d *decoder) escape(buffer []byte, pos int) (longer []byte, end int, err error) {
	if pos+1 == len(d.text) {
		return nil, 0, d.fail(len(d.text), errors.New("the text ends in an escape"))
	}
	switch c := d.text[pos+1]; c {
	case '"', '\\', '/':
		return append(buffer, c), pos + 2, nil
	case 'b':
		return append(buffer, '\b'), pos + 2, nil
	case 'f':
		return append(buffer, '\f'), pos + 2, nil
	case 'n':
		return append(buffer, '\n'), pos + 2, nil
	case 'r':
		return append(buffer, '\r'), pos + 2, nil
	case 't':
		return append(buffer, '\t'), pos + 2, nil
	case 'u':
		r, end, err := d.unicodeEscape(pos)
		return utf8.AppendRune(buffer, r), end, err
	default:
		return nil, 0, d.fail(pos, fmt.Errorf(`\%c is no escape of JSON`, c))
	}
}

// unicodeEscape reads \uXXXX, or two of them that make a surrogate pair.
func (d *decoder) unicodeEscape(pos int) (r rune, end int, err error) {
	r, ok := d.hex(pos)
	if !ok {
		return 0, 0, d.fail(pos, errors.New(`\u needs four hexadecimal digits`))
	}
	if !utf16.IsSurrogate(r) {
		return r, pos + 6, nil
	}
	low, ok := d.hex(pos + 6)
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0, d.fail(pos, fmt.Errorf("%s is half of a surrogate pair and no character", d.text[pos:pos+6]))
	}
	return r, pos + 12, nil
}

// hex returns the number in \uXXXX at pos.
func (d *decoder) hex(pos int) (r rune, ok bool) {
	if pos+6 > len(d.text) || d.text[pos] != '\\' || d.text[pos+1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(d.text[pos+2 : pos+6]) {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
