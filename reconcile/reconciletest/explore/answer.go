package explore

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// suffix matches what the API server adds to a generateName.
var suffix = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// answers counts the writes of a chapter by verb, object and subresource. Their order doesn't count, because the order
// of a map in Go is by chance.
func answers(calls []reconciletest.Call) map[string]int {
	counts := map[string]int{}
	for _, call := range writes(calls) {
		counts[strings.TrimSpace(string(call.Verb)+" "+suffix.ReplaceAllString(refName(call.Ref), "-...")+" "+call.Subresource)]++
	}
	return counts
}

// differs returns the first chapter in which two executions without disturbances differ in their writes, and how. It
// returns -1 if they don't.
func differs(first, second *trace) (chapter int, lines []string) {
	for n := range min(len(first.chapters), len(second.chapters)) {
		one, other := answers(first.chapters[n].judged), answers(second.chapters[n].judged)
		all := maps.Clone(one)
		maps.Copy(all, other)
		for _, write := range slices.Sorted(maps.Keys(all)) {
			if one[write] != other[write] {
				lines = append(lines, fmt.Sprintf("%s: sent %d times, and %d times in another execution", write, one[write], other[write]))
			}
		}
		if len(lines) > 0 {
			return n, lines
		}
	}
	return -1, nil
}

// same reports whether two executions without disturbances send the same writes.
func same(first, second *trace) bool {
	n, _ := differs(first, second)
	return n < 0
}

// inconstant finds writes that differ between two executions of a life without disturbances. A third execution shows
// whether they depend on the time.
func (e *explorer) inconstant(first, second *trace) *finding {
	n, lines := differs(first, second)
	if n < 0 {
		return nil
	}
	cause := "this depends on chance: an execution that begins at the same time differs, too"
	third := e.execute(first.life, nil, 0, false)
	if len(third.chapters) == len(first.chapters) && same(first, third) {
		cause = fmt.Sprintf("this depends on the time, or on what others add to objects: the other execution begins %s later", later)
	}
	return found(first, n, "the operator answers differently for the same state", append(lines[:min(len(lines), longest-1)], cause)...)
}
