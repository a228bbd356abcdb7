package explore

import (
	"cmp"
	"slices"
	"strings"
)

// candidates is how many requests are tried in place of one that has another number in another life.
const candidates = 3

// alike returns the disturbances of an execution that are most like one in another execution: those of the same kind,
// at the same request of the same chapter, the nearest first. A request for an object with another name comes after
// those. If it isn't known what the disturbance is about, only the number counts.
func (e *explorer) alike(tr *trace, a armed) (choices []choice) {
	if a.chapter > len(tr.chapters) {
		return nil
	}
	type ranked struct {
		choice
		rank, distance int
	}
	var found []ranked
	for _, c := range e.possible(tr, a.chapter-1) {
		if c.chapter != a.chapter || c.act != a.act {
			continue
		}
		about := c.arm(tr.chapters[c.chapter-1]).about
		switch {
		case about == a.about || a.about == "":
			found = append(found, ranked{c, 0, max(c.request-a.request, a.request-c.request)})
		case sortOf(about) == sortOf(a.about):
			found = append(found, ranked{c, 1, max(c.request-a.request, a.request-c.request)})
		}
	}
	slices.SortStableFunc(found, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.distance, y.distance))
	})
	for _, one := range found[:min(len(found), candidates)] {
		choices = append(choices, one.choice)
	}
	return choices
}

// sortOf returns the verb and the kind of a request, or the kind of an object.
func sortOf(about string) string {
	words := strings.Fields(about)
	return strings.Join(words[:min(len(words), 2)], " ")
}
