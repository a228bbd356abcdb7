package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// coverage counts which disturbances were tried, of those that the undisturbed lives allow. Random walks don't count.
type coverage struct {
	// rows are by request, without the name of its object.
	rows map[string]*row
	// edits counts the lives with an edit, and edited those that were tried.
	edits, edited int
	// fields are those that edits change, and whether one of these edits was tried.
	fields map[string]bool
	// unedited are all fields of the schemas, with the reason if there is no edit of one.
	unedited map[string]string
}

// row is about all requests of one verb for one kind.
type row struct {
	// seen counts the requests in undisturbed lives.
	seen int
	// tried and possible count disturbances, by column.
	tried, possible [len(columns)]int
}

// columns are the sorts of disturbances in the table of coverage: what ends a process, failures, events and requests
// that come in another order, and what others do.
var columns = [...]string{"killed", "failed", "reordered", "by others"}

// The indexes of columns.
const (
	ended = iota
	failing
	reordered
	byOthers
)

// columnOf returns the index in columns.
func columnOf(a act) int {
	_, fails := faults[a]
	switch {
	case a.kills() || a == restart:
		return ended
	case fails:
		return failing
	case slices.Contains([]act{take, hide, drift, snatch, alter}, a):
		return byOthers
	}
	return reordered
}

func (c *coverage) row(name string) *row {
	if c.rows == nil {
		c.rows = map[string]*row{}
	}
	if c.rows[name] == nil {
		c.rows[name] = &row{}
	}
	return c.rows[name]
}

// learned adds the requests and the possible disturbances of a life.
func (c *coverage) learned(known *lesson, choices []choice) {
	counted := map[[2]int]bool{}
	for _, one := range choices {
		r := c.row(known.subjectOf(one))
		r.possible[columnOf(one.act)]++
		if at := [2]int{one.chapter, one.request}; one.place() == atRequest && !counted[at] {
			counted[at] = true
			r.seen++
		}
	}
}

// tried adds a disturbance that was tried.
func (c *coverage) tried(known *lesson, one choice) {
	c.row(known.subjectOf(one)).tried[columnOf(one.act)]++
}

// subjectOf returns what a choice is about, without the names of objects.
func (tr *trace) subjectOf(c choice) string {
	now := tr.chapters[c.chapter-1]
	switch c.place() {
	case atRequest:
		return requestOf(now.calls[c.request-1])
	case atChild:
		kind, _, _ := strings.Cut(now.children[c.request-1], " ")
		return "(" + kind + " at rest)"
	case atPoint:
		return "(order of what is concurrent)"
	}
	if c.act == restart {
		return "(restart)"
	}
	words := strings.Fields(tr.life.chapters[c.chapter-1].name) // such as create Shop tea
	kind, _, _ := strings.Cut(words[1], ".")
	return "(" + words[0] + " " + kind + " seen late)"
}

// requestOf returns the verb, the kind and the subresource of a request.
func requestOf(call reconciletest.Call) string {
	return strings.TrimSpace(string(call.Verb) + " " + call.Ref.Kind.Kind + " " + call.Subresource)
}

// sum returns how many disturbances were tried, and how many are possible.
func (c *coverage) sum() (tried, possible int) {
	for _, r := range c.rows {
		for i := range columns {
			tried, possible = tried+r.tried[i], possible+r.possible[i]
		}
	}
	return tried, possible
}

// widest is the width of the first column.
const widest = 34

// String returns a table of at most 80 columns. Each cell has how many disturbances were tried, of how many.
func (c *coverage) String() string {
	lines := []string{fmt.Sprintf("%-*s %5s", widest, "disturbances tried", "seen")}
	for _, column := range columns {
		lines[0] += fmt.Sprintf(" %9s", column)
	}
	for _, name := range slices.Sorted(maps.Keys(c.rows)) {
		r := c.rows[name]
		line := fmt.Sprintf("%-*s %5s", widest, cut(name, widest), count(r.seen))
		for i := range columns {
			cell := "-"
			if r.possible[i] > 0 {
				cell = fmt.Sprintf("%d/%d", r.tried[i], r.possible[i])
			}
			line += fmt.Sprintf(" %9s", cell)
		}
		lines = append(lines, line)
	}
	lines = append(lines, c.editsTried())
	if unedited := c.neverEdited(); unedited != "" {
		lines = append(lines, unedited)
	}
	return strings.Join(lines, "\n")
}

func (c *coverage) editsTried() string {
	fields := 0
	for _, tried := range c.fields {
		if tried {
			fields++
		}
	}
	return fmt.Sprintf("edits tried: %d of %d, of %d of %d fields", c.edited, c.edits, fields, len(c.fields))
}

// planned adds a life with an edit that may be tried.
func (c *coverage) planned(l life) {
	if c.fields == nil {
		c.fields = map[string]bool{}
	}
	c.edits++
	for _, path := range l.by.Paths {
		if !c.fields[path] {
			c.fields[path] = false // it counts, though it isn't edited yet
		}
	}
}

// lived adds a life with an edit that was tried.
func (c *coverage) lived(l life) {
	c.edited++
	for _, path := range l.by.Paths {
		c.fields[path] = true
	}
}

// count returns a number for the table, "-" for none.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// cut shortens a text to some runes.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
