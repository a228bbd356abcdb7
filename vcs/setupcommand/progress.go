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
	// patience is how long nothing is drawn, frame how long a picture stays, and again how long a phase has to be to be told of again.
	patience = 300 * time.Millisecond
	frame    = 100 * time.Millisecond
	again    = 10 * time.Second
)

// meter shows how far the work is: on a terminal as a bar that goes when the work is done, and only if that takes long; elsewhere as a line for
// each phase, and more of them in a long one.
type meter struct {
	out     io.Writer
	live    bool
	columns func() int
	now     func() time.Time
	begun   time.Time
	// told is when something was written last, phase what that was about, drawn whether it is still there.
	told  time.Time
	phase vcs.Phase
	drawn bool
}

func newMeter(out io.Writer) *meter {
	columns := func() int { return columnsOf(out) } // it may be made wider or narrower meanwhile
	return &meter{out: out, live: columns() > 0 && os.Getenv("TERM") != "dumb", columns: columns, now: time.Now, begun: time.Now()}
}

// take shows how far it is, unless something was shown a moment ago.
func (m *meter) take(p vcs.Progress) {
	now := m.now()
	switch {
	case m.live && (now.Sub(m.begun) < patience || now.Sub(m.told) < frame):
		return
	case m.live:
		m.draw(p)
	case p.Phase != m.phase:
		_, _ = fmt.Fprintf(m.out, "%s %s\n", p.Phase, things(p, p.Total))
	case now.Sub(m.told) >= again:
		_, _ = fmt.Fprintf(m.out, "%s, %d of %s\n", p.Phase, p.Done, things(p, p.Total))
	default:
		return
	}
	m.told, m.phase = now, p.Phase
}

// things is how many there are of what a phase counts.
func things(p vcs.Progress, n int) string {
	if p.Phase == vcs.Reading {
		return amount(n, "version")
	}
	return amount(n, "object")
}

// draw writes the bar over the one before.
func (m *meter) draw(p vcs.Progress) {
	_, _ = io.WriteString(m.out, "\r"+bar(p, m.columns())+"\x1b[K")
	m.drawn = true
}

const (
	longestBar  = 40
	shortestBar = 5
)

// bar is a picture of how far it is in one line, that leaves the last column free: some terminals go on below when it is written.
func bar(p vcs.Progress, columns int) string {
	share := 1.0
	if p.Total > 0 {
		share = min(float64(p.Done)/float64(p.Total), 1)
	}
	before, after := fmt.Sprintf("%-9s ", p.Phase), fmt.Sprintf(" %3.0f%%", 100*share)
	counted := after + fmt.Sprintf("  %d/%s", p.Done, things(p, p.Total))
	room := columns - 1 - len(before) - len("[]")
	switch {
	case room-len(counted) >= shortestBar:
		after = counted
	case room-len(after) < shortestBar:
		line := strings.TrimSpace(string(p.Phase)) + after
		return line[:min(len(line), max(columns-1, 0))]
	}
	width := min(room-len(after), longestBar)
	filled := int(share * float64(width))
	return before + "[" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "]" + after
}

// end takes the bar away.
func (m *meter) end() {
	if m.drawn {
		_, _ = io.WriteString(m.out, "\r\x1b[K")
		m.drawn = false
	}
}
