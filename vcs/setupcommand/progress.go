package setupcommand

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/vcs"
)

const (
	// patience is the time before the bar is first drawn. frame is the minimum time between two drawings of the bar.
	// The constant again is the minimum time between two lines about the same phase.
	patience = 300 * time.Millisecond
	frame    = 100 * time.Millisecond
	again    = 10 * time.Second
)

// meter shows the progress. On a terminal it draws a bar if the work takes long, and removes it at the end. Elsewhere
// it prints a line for each phase, and more lines during a long phase.
type meter struct {
	out     io.Writer
	live    bool
	columns func() int
	now     func() time.Time
	begun   time.Time
	// shown is the time of the last output, phase its phase. drawn means that the bar is on the screen.
	shown time.Time
	phase vcs.Phase
	drawn bool
}

func newMeter(out io.Writer) *meter {
	columns := func() int { return columnsOf(out) } // a terminal may be resized
	return &meter{out: out, live: columns() > 0 && os.Getenv("TERM") != "dumb", columns: columns, now: time.Now, begun: time.Now()}
}

// take shows the progress, unless the last output was a moment ago.
func (m *meter) take(p vcs.Progress) {
	now := m.now()
	switch {
	case m.live && (now.Sub(m.begun) < patience || now.Sub(m.shown) < frame):
		return
	case m.live:
		m.draw(p)
	case p.Phase != m.phase:
		_, _ = fmt.Fprintf(m.out, "%s %s\n", p.Phase, things(p, p.Total))
	case now.Sub(m.shown) >= again:
		_, _ = fmt.Fprintf(m.out, "%s, %d of %s\n", p.Phase, p.Done, things(p, p.Total))
	default:
		return
	}
	m.shown, m.phase = now, p.Phase
}

// things returns n with the unit that the phase counts.
func things(p vcs.Progress, n int) string {
	if p.Phase == vcs.Reading {
		return amount(n, "version")
	}
	return amount(n, "object")
}

// draw draws the bar over the previous one.
func (m *meter) draw(p vcs.Progress) {
	_, _ = io.WriteString(m.out, "\r"+bar(p, m.columns())+"\x1b[K")
	m.drawn = true
}

const (
	maxBar = 40
	minBar = 5
)

// bar returns the bar as one line. It leaves the last column free, because some terminals begin a new line after it.
func bar(p vcs.Progress, columns int) string {
	share := 1.0
	if p.Total > 0 {
		share = min(float64(p.Done)/float64(p.Total), 1)
	}
	before, after := fmt.Sprintf("%-9s ", p.Phase), fmt.Sprintf(" %3.0f%%", 100*share)
	counted := after + fmt.Sprintf("  %d/%s", p.Done, things(p, p.Total))
	room := columns - 1 - len(before) - len("[]")
	switch {
	case room-len(counted) >= minBar:
		after = counted
	case room-len(after) < minBar:
		line := strings.TrimSpace(string(p.Phase)) + after
		return line[:min(len(line), max(columns-1, 0))]
	}
	width := min(room-len(after), maxBar)
	filled := int(share * float64(width))
	return before + "[" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "]" + after
}

// end removes the bar.
func (m *meter) end() {
	if m.drawn {
		_, _ = io.WriteString(m.out, "\r\x1b[K")
		m.drawn = false
	}
}
