package explore

import (
	"fmt"
	"strings"
)

// report is the result of an exploration.
type report struct {
	findings []*finding
	// visited counts states, disturbed the executions with one disturbance, and walked those with two.
	visited, disturbed, walked int
}

func (r report) String() string {
	return fmt.Sprintf("EXPLORE states=%d disturbances=%d walks=%d findings=%d", r.visited, r.disturbed, r.walked, len(r.findings))
}

// finding is a life that ends as it shouldn't.
type finding struct {
	*trace
	problem string
	// chapter is where it shows, counted from 0, and details say how.
	chapter int
	details []string
}

func found(tr *trace, chapter int, problem string, details ...string) *finding {
	return &finding{tr, problem, chapter, details}
}

// subject is what is wrong, without values.
func (f *finding) subject() string {
	if len(f.details) == 0 {
		return ""
	}
	return strings.SplitN(f.details[0], ":", 2)[0]
}

// longest is how many lines a story has of one sort at most.
const longest = 5

// story tells the finding in at most 15 lines.
func (f *finding) story() string {
	lines := []string{"explore: " + f.problem}
	for n := range f.chapters[:f.chapter+1] {
		lines = append(lines, fmt.Sprintf("  %d. %s", n+1, f.life.chapters[n].name))
		for _, a := range f.disturbances {
			if a.chapter == n+1 {
				lines = append(lines, "     "+a.tell())
			}
		}
	}
	if len(lines) > longest+3 {
		lines = append(lines[:1], lines[len(lines)-longest-2:]...)
	}
	for i, detail := range f.details {
		if i == longest {
			lines = append(lines, fmt.Sprintf("  and %d more", len(f.details)-i))
			break
		}
		lines = append(lines, "  => "+strings.Join(strings.Fields(detail), " "))
	}
	return strings.Join(append(lines, fmt.Sprintf("  replay: explore.Replay(%q)", f.replay())), "\n")
}

// replay is the text for the option Replay.
func (f *finding) replay() string {
	var p plan
	for _, a := range f.disturbances {
		p = append(p, a.choice)
	}
	return f.life.name + " | " + p.String()
}
