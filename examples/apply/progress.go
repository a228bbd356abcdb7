package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
)

// progress is a table of the objects and what has become of them. On a terminal it is drawn anew with each change; elsewhere
// each line is written once, when nothing of it will change any more.
type progress struct {
	out     io.Writer
	live    bool
	waits   bool
	columns int

	mu    sync.Mutex
	rows  []*row
	drawn int
	err   error
}

// row is one object.
type row struct {
	ref           deploy.Ref
	action, state string
	settled       bool
}

func newProgress(out io.Writer, objects []*unstructured.Unstructured, waits bool) *progress {
	p := &progress{out: out, waits: waits}
	if file, isFile := out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil && len(objects) < height {
			p.live, p.columns = true, width
		}
	}
	if p.live {
		for _, obj := range objects {
			p.rows = append(p.rows, &row{ref: deploy.RefOf(obj)})
		}
		p.draw()
	}
	return p
}

// applied takes what became of an object.
func (p *progress) applied(result deploy.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.row(result.Ref)
	waiting := p.waits && r.action == "" && result.Err == nil && result.Action != deploy.Skipped
	r.action, r.settled = string(result.Action), !waiting
	if result.Err != nil {
		r.state = ""
	}
	p.show(r)
}

// judged takes how ready an object is.
func (p *progress) judged(ref deploy.Ref, verdict readiness.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.row(ref)
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

// pruned takes what became of the objects that left the set.
func (p *progress) pruned(gone []deploy.Pruned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, member := range gone {
		r := p.row(member.Ref)
		r.action, r.state, r.settled = string(member.Action), member.Reason, true
		p.show(r)
	}
}

// row finds the row of an object, which is there or new. A manifest may leave the namespace out.
func (p *progress) row(ref deploy.Ref) *row {
	for _, r := range p.rows {
		named := r.ref
		if named.Namespace == "" {
			named.Namespace = ref.Namespace
		}
		if named == ref {
			r.ref = ref
			return r
		}
	}
	r := &row{ref: ref}
	p.rows = append(p.rows, r)
	return r
}

func (p *progress) show(r *row) {
	switch {
	case p.live:
		p.draw()
	case r.settled:
		p.print(r.text() + "\n")
	}
}

func (r *row) text() string {
	return strings.TrimRight(fmt.Sprintf("%-50s %-11s %s", r.ref, r.action, r.state), " ")
}

// draw writes the whole table over the last one.
func (p *progress) draw() {
	var out strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", p.drawn)
	}
	for _, r := range p.rows {
		text := []rune(r.text())
		if len(text) > p.columns {
			text = text[:p.columns]
		}
		out.WriteString("\x1b[2K" + string(text) + "\n")
	}
	p.drawn = len(p.rows)
	p.print(out.String())
}

func (p *progress) print(text string) {
	if _, err := io.WriteString(p.out, text); err != nil && p.err == nil {
		p.err = err
	}
}

// end writes the last line and returns what kept the table from being written.
func (p *progress) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[string]int{}
	for _, r := range p.rows {
		counts[r.action]++
	}
	var parts []string
	for _, action := range []deploy.Action{deploy.Created, deploy.Configured, deploy.Unchanged, deploy.Replaced, deploy.Recreated,
		deploy.Removed, deploy.Skipped, deploy.Conflicted, deploy.Failed} {
		if n := counts[string(action)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	p.print(strings.Join(parts, ", ") + "\n")
	return p.err
}
