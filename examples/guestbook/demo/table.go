package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	componentWidth = 10
	stateWidth     = 26
)

// picture returns the state of all components as lines of at most room columns; doing is the present action. The first
// line is empty, and the number of lines doesn't depend on the action.
func (b *board) picture(screen screen, room int, doing string) []string {
	lines := []string{"", screen.paint(faint, cut(fmt.Sprintf("    %-*s  %-*s  %s", componentWidth, "COMPONENT", stateWidth, "STATE", "OBJECTS"), room))}
	line := func(name string, state componentState, objects string) {
		head := fmt.Sprintf("    %-*s  ", componentWidth, name)
		text := fmt.Sprintf("%-*s", stateWidth, cut(brief(state.text), stateWidth))
		tail := cut("  "+objects, room-len(head)-stateWidth)
		lines = append(lines, head+screen.paint(state.colour, text)+tail)
	}
	book := componentState{faint, "absent"}
	if b.book != nil {
		book = verdict(b.book)
	}
	line(bookSubject, book, b.ref.Kind.Kind+" "+b.ref.Name)
	for _, component := range b.components() {
		line(component, b.state(component), b.inventory(component))
	}
	return append(lines, screen.paint(faint, cut("    "+doing, room)))
}

// inventory lists the kinds of a component's objects.
func (b *board) inventory(component string) string {
	var parts []string
	for _, obj := range b.objects(component) {
		part := obj.GetKind()
		if _, ok := pods(obj); ok {
			ready, wanted := replicas(obj)
			part += fmt.Sprintf(" %d/%d", ready, wanted)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// brief returns a text without its explanation.
func brief(text string) string {
	text, _, _ = strings.Cut(text, ": ")
	text, _, _ = strings.Cut(text, " (")
	return text
}

// cut shortens text to one line of at most that many columns.
func cut(text string, columns int) string {
	runes := []rune(oneLine(text))
	switch {
	case columns <= 0:
		return ""
	case len(runes) <= columns:
		return string(runes)
	case columns <= 2:
		return string(runes[:columns])
	}
	return string(runes[:columns-2]) + ".."
}

// row has the time and the calls of one step. Calls are counted from the start of the operator.
type row struct {
	step          string
	took          time.Duration
	counted       bool
	reads, writes int
}

// summary returns the table of all steps, with the total as the last line.
func summary(rows []row) []string {
	const form = "%-22s %9s %11s %12s"
	rule := strings.Repeat("-", 57)
	lines := []string{fmt.Sprintf(form, "step", "seconds", "API reads", "API writes"), rule}
	var total row
	for i, r := range rows {
		reads, writes := "-", "-"
		if r.counted {
			reads, writes = fmt.Sprint(r.reads), fmt.Sprint(r.writes)
		}
		lines = append(lines, fmt.Sprintf(form, fmt.Sprintf("%2d  %s", i+1, r.step), seconds(r.took), reads, writes))
		total.took += r.took
		total.reads += r.reads
		total.writes += r.writes
	}
	return append(lines, rule, fmt.Sprintf(form, "    total", seconds(total.took), fmt.Sprint(total.reads), fmt.Sprint(total.writes)))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
