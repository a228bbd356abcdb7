package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
)

// progress shows a table. On a terminal it is redrawn at each change; elsewhere each line is written once, when it is
// final.
type progress struct {
	out     io.Writer
	live    bool
	waits   bool
	columns int

	mu    sync.Mutex
	table *table
	drawn int
	err   error
}

func newProgress(out io.Writer, t *table, waits bool) *progress {
	p := &progress{out: out, table: t, waits: waits}
	if file, isFile := out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil && len(t.rows) < height {
			p.live, p.columns = true, width
		}
	}
	if p.live {
		p.draw()
	}
	return p
}

// applied records the result for an object.
func (p *progress) applied(result deploy.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.table.row(result.Ref)
	again := r.action != "" // it has been applied before, and others have waited for it
	r.take(result.Action, result.Err)
	r.remarks = remarksOf(result)
	r.settled = !p.waits || again || result.Err != nil || result.Action == deploy.Skipped
	p.show(r)
}

// judged records the readiness of an object.
func (p *progress) judged(ref deploy.Ref, verdict readiness.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.table.row(ref)
	state := string(verdict.State)
	if verdict.State != readiness.Ready && verdict.Message != "" {
		state += ": " + verdict.Message
	}
	if r.state == state {
		return
	}
	r.state = state
	if p.live {
		p.draw()
	}
}

// pruned records the results for the objects that are no longer in the set.
func (p *progress) pruned(gone []deploy.Pruned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, member := range gone {
		r := p.table.row(member.Ref)
		r.take(member.Action, member.Err)
		r.state, r.settled = member.Reason, true
		p.show(r)
	}
}

func (p *progress) show(r *row) {
	switch {
	case p.live:
		p.draw()
	case r.settled:
		p.print(r.text() + "\n")
	}
}

// draw writes the whole table over the last one.
func (p *progress) draw() {
	var out strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", p.drawn)
	}
	for _, r := range p.table.rows {
		text := []rune(r.text())
		if len(text) > p.columns {
			text = text[:p.columns]
		}
		out.WriteString("\x1b[2K" + string(text) + "\n")
	}
	p.drawn = len(p.table.rows)
	p.print(out.String())
}

func (p *progress) print(text string) {
	if _, err := io.WriteString(p.out, text); err != nil && p.err == nil {
		p.err = err
	}
}

// end writes the remarks and the last line, and returns the error if the table couldn't be written.
func (p *progress) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.table.rows {
		for _, remark := range r.remarks {
			p.print(r.name() + ": " + remark + "\n")
		}
	}
	p.print(p.table.summary() + "\n")
	return p.err
}
