package explore

import (
	"fmt"
	"slices"
	"strings"
)

// atlas has the states of a cluster at rest that an exploration has reached, for a picture. Equal states are one. A nil
// atlas notes nothing.
type atlas struct {
	places []*node
	// disturbed are the places that only disturbances lead to, by how they differ from a place without them.
	disturbed map[string]int
	// of are the places at the beginning and after each chapter of an execution.
	of map[*trace][]int
}

// node is a state at rest.
type node struct {
	state state
	// from is the place from which it was reached first, -1 for the beginning, and event is what happened there.
	// disturbances were needed for it, too.
	from                int
	event, disturbances string
	// calm: it is reached without a disturbance. also counts the disturbed executions that reached it, too.
	calm bool
	also int
	// exits are other ways from it, to places that were reached already.
	exits []exit
	// findings are the numbers of those that show here, counted from 1.
	findings []int
}

type exit struct {
	event string
	to    int
}

func newAtlas() *atlas { return &atlas{disturbed: map[string]int{}, of: map[*trace][]int{}} }

// undisturbed notes an execution without disturbances.
func (a *atlas) undisturbed(l *lesson) {
	if a == nil || a.of[l.trace] != nil {
		return
	}
	at := a.find(l.began, l, -1, "the beginning")
	path := []int{at}
	for n, now := range l.chapters {
		at = a.find(now.end, l, at, l.life.chapters[n].name)
		path = append(path, at)
	}
	a.of[l.trace] = path
}

// find returns the place with a state, which is reached from another one by an event.
func (a *atlas) find(s state, l *lesson, from int, event string) int {
	kind, _, _ := strings.Cut(nameOf(l.life.resource), " ")
	for i, p := range a.places {
		differences := slices.DeleteFunc(l.differences(p.state, s), func(d difference) bool {
			return strings.HasPrefix(d.Path, ".status") && strings.HasPrefix(d.object, kind+" ") // it may have a history
		})
		if p.calm && len(differences) == 0 {
			a.exit(from, i, event)
			return i
		}
	}
	a.places = append(a.places, &node{state: s, from: from, event: event, calm: true})
	return len(a.places) - 1
}

// exit adds a way between two places, unless it is known.
func (a *atlas) exit(from, to int, event string) {
	if from < 0 || a.places[to].from == from && a.places[to].event == event {
		return
	}
	if way := (exit{event, to}); !slices.Contains(a.places[from].exits, way) {
		a.places[from].exits = append(a.places[from].exits, way)
	}
}

// followed notes an execution with disturbances.
func (a *atlas) followed(l *lesson, tr *trace) {
	if a == nil || len(tr.disturbances) == 0 {
		return
	}
	a.undisturbed(l)
	known := a.of[l.trace]
	at := known[0]
	path := []int{at}
	for n, now := range tr.chapters {
		if n+1 >= len(known) || now.end == nil && !now.passed {
			break // it ended as an earlier one
		}
		if now.passed {
			path = append(path, known[n+1])
			continue
		}
		differences := l.differences(l.chapters[n].end, now.end)
		if len(differences) == 0 {
			at = known[n+1]
			a.places[at].also += len(tr.within(n + 1))
		} else {
			reached := node{from: at, event: tr.life.chapters[n].name, disturbances: strings.Join(tr.within(n+1), "; ")}
			at = a.apart(known[n+1], differences, reached)
		}
		path = append(path, at)
	}
	a.of[tr] = path
}

// apart returns the place that differs from another one, which is new unless it was reached already.
func (a *atlas) apart(other int, differences []difference, reached node) int {
	key := fmt.Sprint(other, texts(differences))
	if at, is := a.disturbed[key]; is {
		a.places[at].also++
		return at
	}
	a.places = append(a.places, &reached)
	a.disturbed[key] = len(a.places) - 1
	return len(a.places) - 1
}

// within returns the disturbances of a chapter, counted from 1.
func (tr *trace) within(chapter int) (lines []string) {
	for _, one := range tr.disturbances {
		if one.chapter == chapter {
			lines = append(lines, one.tell())
		}
	}
	return lines
}

// mark notes where a finding shows, the nth counted from 1.
func (a *atlas) mark(f *finding, n int) {
	a.undisturbed(&lesson{trace: f.trace})
	path := a.of[f.trace]
	shows := a.places[path[min(f.chapter+1, len(path)-1)]]
	shows.findings = append(shows.findings, n)
}
