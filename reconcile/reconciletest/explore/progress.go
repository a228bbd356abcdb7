package explore

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress is a line on a terminal that shows how far an exploration is. A nil progress shows nothing.
type progress struct {
	to   io.Writer
	now  func() time.Time
	last time.Time
}

// often is how much time is between two updates of the line at least.
const often = 300 * time.Millisecond

// newProgress returns a progress on a file, nil if it isn't a terminal.
func newProgress(file *os.File) *progress {
	if !terminal(file, os.Getenv("TERM")) {
		return nil
	}
	return &progress{to: file, now: time.Now}
}

// terminal reports whether a file is a terminal that can rewrite a line.
func terminal(file *os.File, term string) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || term == "" || term == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Sequences of a terminal: to the beginning of the line, and what erases the rest of it.
const (
	rewind = "\r"
	erase  = "\x1b[K"
)

// show rewrites the line, unless it was rewritten just now.
func (p *progress) show(r report) {
	if p == nil || p.now().Sub(p.last) < often {
		return
	}
	p.last = p.now()
	_, _ = fmt.Fprintf(p.to, "%sexplore: %d states, %d disturbances, %d findings%s", rewind, r.visited, r.disturbed+r.paired+r.walked, len(r.findings), erase)
}

// end wipes the line.
func (p *progress) end() {
	if p != nil && !p.last.IsZero() {
		_, _ = fmt.Fprint(p.to, rewind+erase)
	}
}
