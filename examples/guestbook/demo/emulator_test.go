package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// emulator is a terminal as far as the narrator needs one: it keeps the lines that a reader
// sees. Anything else than it knows fails the test.
type emulator struct {
	t       *testing.T
	width   int
	lines   []string
	row     int
	widest  int
	colours int
}

func newEmulator(t *testing.T, width int) *emulator {
	return &emulator{t: t, width: width, lines: []string{""}}
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9]*)([AJm])`)

// Write implements io.Writer.
func (e *emulator) Write(text []byte) (int, error) {
	rest := string(text)
	for rest != "" {
		if found := sequence.FindStringSubmatch(rest); found != nil {
			e.control(found[1], found[2])
			rest = rest[len(found[0]):]
			continue
		}
		e.put(rest[0])
		rest = rest[1:]
	}
	return len(text), nil
}

func (e *emulator) control(number, letter string) {
	switch letter {
	case "m":
		e.colours++
	case "A":
		up, err := strconv.Atoi(number)
		if err != nil || up > e.row || e.lines[e.row] != "" {
			e.t.Errorf("cursor up %q from row %d, which begins with %q", number, e.row, e.lines[e.row])
			return
		}
		e.row -= up
	case "J":
		e.lines = append(e.lines[:e.row:e.row], "")
	}
}

func (e *emulator) put(char byte) {
	switch {
	case char == '\n':
		e.row++
		if e.row == len(e.lines) {
			e.lines = append(e.lines, "")
		}
	case char < ' ' || char > '~':
		e.t.Errorf("byte %#x: not every terminal shows it", char)
	default:
		e.lines[e.row] += string(char)
		e.widest = max(e.widest, len(e.lines[e.row]))
	}
}

// text is what the reader sees.
func (e *emulator) text() string { return strings.Join(e.lines, "\n") }
