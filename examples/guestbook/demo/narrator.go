package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// Where the text of a narrated line begins: after the time and the subject.
const (
	subjectWidth = 9
	textColumn   = 12 + subjectWidth + 2
)

// narrator prints what happens, line by line. On a terminal it also shows a picture below the lines, and redraws it
// when it changes. It must be used by one goroutine only.
type narrator struct {
	out     io.Writer
	screen  screen
	now     func() time.Time
	started time.Time // the step
	picture []string  // on the screen now, below the last line
	err     error     // of the first write that failed
}

func newNarrator(out io.Writer, screen screen, now func() time.Time) *narrator {
	return &narrator{out: out, screen: screen, now: now, started: now()}
}

// say writes a permanent line.
func (n *narrator) say(format string, args ...any) {
	n.lines(wrap(fmt.Sprintf(format, args...), 0, n.room()))
}

// step begins the step of this number. The times of its lines count from here.
func (n *narrator) step(number int, name, does string) {
	n.started = n.now()
	head := fmt.Sprintf("%2d  %-16s", number, name)
	n.lines([]string{"", n.screen.paint(bold, head) + "  " + does})
}

// note is one line about a subject, at the time since the step began.
func (n *narrator) note(c colour, subject, text string) {
	n.tell(c, fmt.Sprintf("%8.2f s", n.elapsed().Seconds()), subject, text)
}

// remark is a note without a time, such as the result of a step.
func (n *narrator) remark(c colour, subject, text string) { n.tell(c, "", subject, text) }

func (n *narrator) tell(c colour, at, subject, text string) {
	head := fmt.Sprintf("%10s  %-*s  ", at, subjectWidth, subject)
	lines := wrap(head+oneLine(text), textColumn, n.room())
	for i, line := range lines {
		lines[i] = line[:textColumn] + n.screen.paint(c, line[textColumn:])
	}
	n.lines(lines)
}

// elapsed is the time since the step began.
func (n *narrator) elapsed() time.Duration { return n.now().Sub(n.started) }

// show replaces the picture. It does nothing on a screen that isn't live.
func (n *narrator) show(picture []string) {
	if n.screen.live {
		n.draw("", picture)
	}
}

// lines writes lines above the picture.
func (n *narrator) lines(lines []string) {
	n.draw(strings.Join(lines, "\n")+"\n", n.picture)
}

// draw removes the picture, writes text, and draws the next picture below it, all in one write, so that it doesn't
// flicker.
func (n *narrator) draw(text string, picture []string) {
	var all strings.Builder
	if len(n.picture) > 0 {
		fmt.Fprintf(&all, "\x1b[%dA\x1b[J", len(n.picture))
	}
	all.WriteString(text)
	for _, line := range picture {
		all.WriteString(line + "\n")
	}
	n.picture = picture
	if _, err := io.WriteString(n.out, all.String()); err != nil && n.err == nil {
		n.err = fmt.Errorf("output: %w", err)
	}
}

// room is the number of columns that a line may have, 0 for any number.
func (n *narrator) room() int {
	if n.screen.width == nil {
		return 0
	}
	// The last column stays free: some terminals begin a new line after it.
	return n.screen.width() - 1
}

// oneLine replaces characters that would move the cursor by spaces, since messages of other programs may contain
// anything.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// wrap breaks text at spaces into lines of at most room columns, all but the first indented. A word that is too long
// for a line is cut into pieces. If room is 0, or too small for the indent, the text isn't changed.
func wrap(text string, indent, room int) []string {
	runes := []rune(text)
	if room <= indent+10 {
		return []string{text}
	}
	var lines []string
	for len(runes) > room {
		end := room
		for at := room; at > indent; at-- {
			if runes[at] == ' ' {
				end = at
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(runes[:end]), " "))
		rest := strings.TrimLeft(string(runes[end:]), " ")
		runes = []rune(strings.Repeat(" ", indent) + rest)
	}
	return append(lines, string(runes))
}
