package build

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// plainEvery is the longest time after which a meter that isn't on a terminal prints a line.
	plainEvery = 8 * time.Second
	// plainPercent is the progress in percent after which a meter that isn't on a terminal prints a line.
	plainPercent = 10
	// columns is the maximum width of the live line, so that it stays one line.
	columns = 79
)

// meter shows the progress of a build: one live line on a terminal, plain lines elsewhere. It is safe for concurrent
// use.
type meter struct {
	mu      sync.Mutex
	out     io.Writer
	live    bool
	now     func() time.Time
	started time.Time

	phase   string
	done    int
	total   int // 0: unknown
	item    string
	spoke   time.Time
	percent int // at the last plain line
	dirty   bool
}

// newMeter returns a meter that writes to out; a nil out shows nothing.
func newMeter(out io.Writer, now func() time.Time) *meter {
	if out == nil {
		out = io.Discard
	}
	return &meter{out: out, live: terminal(out), now: now, started: now(), spoke: now()}
}

// terminal reports whether out is a terminal that understands a carriage return.
func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say prints a separate line.
func (m *meter) say(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	m.print("devcluster: " + fmt.Sprintf(format, args...) + "\n")
	m.spoke = m.now()
}

// begin starts a phase of total steps; 0 if the number is unknown.
func (m *meter) begin(phase string, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.total, m.done, m.item, m.percent = phase, total, 0, "", 0
	m.show()
}

// reach shows that done steps of the phase are complete; item is the last of them. The number never decreases.
func (m *meter) reach(done int, item string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done, m.item = max(m.done, done), item
	m.show()
}

// tick must be called about once a second. It updates the time on the live line. If the meter isn't on a terminal, tick
// prints a line after plainEvery.
func (m *meter) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != "" {
		m.show()
	}
}

// end removes the live line.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	m.phase = ""
}

func (m *meter) show() {
	if m.live {
		line := []rune(m.line())
		m.print("\r\x1b[K" + string(line[:min(len(line), columns)]))
		m.dirty = true
		return
	}
	percent := m.percentDone()
	if percent >= m.percent+plainPercent || m.now().Sub(m.spoke) >= plainEvery {
		m.percent = percent - percent%plainPercent
		m.spoke = m.now()
		m.print(m.line() + "\n")
	}
}

func (m *meter) line() string {
	took := m.elapsed()
	if m.total == 0 {
		return fmt.Sprintf("devcluster: %s %d %s %s", m.phase, m.done, took, m.item)
	}
	return fmt.Sprintf("devcluster: %s %3d%% (%d/%d) %s %s", m.phase, m.percentDone(), m.done, m.total, took, m.item)
}

func (m *meter) percentDone() int {
	if m.total == 0 {
		return 0
	}
	return 100 * m.done / m.total
}

func (m *meter) elapsed() time.Duration { return m.now().Sub(m.started).Round(time.Second) }

func (m *meter) clear() {
	if m.dirty {
		m.print("\r\x1b[K")
		m.dirty = false
	}
}

// print writes text. It ignores errors: a build doesn't fail because its progress can't be shown.
func (m *meter) print(text string) { _, _ = io.WriteString(m.out, text) }
