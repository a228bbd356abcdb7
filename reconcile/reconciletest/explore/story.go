package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// A story has at most lengthOfStory lines, of which at most longest are differences.
const (
	lengthOfStory = 15
	longest       = 5
)

// story tells the finding: what somebody did, the disturbances with the writes around them, and the difference.
func (f *finding) story() string {
	details := f.differences()
	room := lengthOfStory - 2 - len(details)
	var events []string
	for around := 2; around >= 0; around-- {
		if events = f.events(around); len(events) <= room {
			break
		}
	}
	if len(events) > room {
		events = events[len(events)-room:]
	}
	lines := append([]string{"explore: " + f.problem}, events...)
	last := fmt.Sprintf("  replay: explore.Replay(%q)", f.replay())
	if f.file != "" {
		last += ", kept in " + f.file
	}
	return strings.Join(append(append(lines, details...), last), "\n")
}

// differences returns the lines about what is wrong.
func (f *finding) differences() (lines []string) {
	for i, detail := range f.details {
		if i == longest {
			return append(lines, fmt.Sprintf("  and %d more", len(f.details)-i))
		}
		lines = append(lines, "  => "+f.withComponent(strings.Join(strings.Fields(detail), " ")))
	}
	return lines
}

// events returns the lines about what happened, with some writes before and after each disturbance.
func (f *finding) events(around int) (lines []string) {
	for n, now := range f.chapters[:f.chapter+1] {
		lines = append(lines, fmt.Sprintf("  %d. %s", n+1, f.life.chapters[n].name))
		var disturbances []armed
		for _, a := range f.disturbances {
			if a.chapter == n+1 {
				disturbances = append(disturbances, a)
			}
		}
		told := 0 // how many requests the lines are about
		for i, a := range disturbances {
			at, until := len(now.calls), len(now.calls)
			switch {
			case a.place() == atRequest:
				at = min(a.request, len(now.calls))
				lines = append(lines, lastOf(now.calls[told:max(told, at-1)], around)...)
			case !a.atEnd():
				at = told
			}
			if i+1 < len(disturbances) && disturbances[i+1].place() == atRequest {
				until = max(at, min(disturbances[i+1].request-1, len(now.calls)))
			}
			after := firstOf(now.calls[at:until], around)
			lines = append(append(lines, "     "+f.withComponent(a.tell())), after...)
			told = until
		}
	}
	return lines
}

// firstOf returns lines about the first writes.
func firstOf(calls []reconciletest.Call, most int) (lines []string) {
	sent := writes(calls)
	for _, call := range sent[:min(len(sent), most)] {
		lines = append(lines, "     "+call.String())
	}
	return lines
}

// lastOf returns lines about the last writes.
func lastOf(calls []reconciletest.Call, most int) []string {
	sent := writes(calls)
	return firstOf(sent[max(0, len(sent)-most):], most)
}

// withComponent adds, at the end of a line, the component of the first object in it that belongs to one.
func (f *finding) withComponent(text string) string {
	first, component := len(text), ""
	for _, object := range slices.Sorted(maps.Keys(f.components)) {
		at := strings.Index(text, object)
		behind := at + len(object)
		whole := at >= 0 && (behind == len(text) || strings.ContainsRune(" :,", rune(text[behind])))
		if whole && at < first {
			first, component = at, f.components[object]
		}
	}
	if component == "" {
		return text
	}
	return text + " (component " + component + ")"
}
