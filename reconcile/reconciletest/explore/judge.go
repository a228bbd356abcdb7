package explore

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest"
)

// broken judges what must hold in each execution. known are faults that are found already.
func broken(tr *trace, known map[string]bool) *finding {
	last := len(tr.chapters) - 1
	if failure := strings.TrimPrefix(tr.failure, "reconciletest: "); failure != "" {
		problem := "the operator doesn't come to rest"
		for _, other := range []string{neverEnds, panics} {
			if how, is := strings.CutPrefix(failure, other+": "); is {
				problem, failure = other, how
			}
		}
		lines := strings.Split(failure, "\n")
		if len(tr.heartbeats) > 0 {
			lines = slices.Insert(lines, 1, onPurpose(tr.heartbeats))
		}
		return found(tr, last, problem, lines...)
	}
	for n, now := range tr.chapters {
		faults := slices.DeleteFunc(slices.Clone(now.faults), func(f fault) bool { return known[f.key()] })
		switch {
		case len(now.panics) > 0:
			return found(tr, n, panics, now.panics[0])
		case len(now.errs) > 0 && !tr.life.chapters[n].lacks:
			name := slices.Min(slices.Collect(maps.Keys(now.errs)))
			return found(tr, n, "a reconcile fails again and again", name+": "+now.errs[name])
		case len(faults) > 0:
			return found(tr, n, faults[0].problem, faults[0].details...)
		case len(now.again) > 0 && tr.life.chapters[n].foreign:
			return found(tr, n, "the operator misses a change of an object of others: it acts only at another event", changesOf(now.again[0])...)
		case len(now.again) > 0:
			return found(tr, n, "the operator writes though nothing has changed", changesOf(now.again[0])...)
		case len(now.anew) > 0:
			return found(tr, n, "the operator writes after a restart though nothing has changed", changesOf(now.anew[0])...)
		}
	}
	return nil
}

// judge judges an execution with disturbances.
func (l *lesson) judge(tr *trace) *finding {
	if tr.refused != nil {
		return found(tr, len(tr.chapters)-1, "the cluster refuses what it accepts without the disturbance", tr.refused.Error())
	}
	if f := broken(tr, l.faults); f != nil || tr.equal {
		return f
	}
	for n, now := range tr.chapters {
		if now.passed || tr.life.chapters[n].lacks { // without what it needs an operator can't repair anything
			continue
		}
		differences := slices.DeleteFunc(l.differences(l.chapters[n].end, now.end), func(d difference) bool {
			return l.mayBeGone(n, d, tr) || theirs(d, tr)
		})
		if len(differences) > 0 && !l.mayBe(n, tr) {
			return found(tr, n, "the cluster ends in another state than without the disturbance", texts(differences)...)
		}
	}
	return cmp.Or(l.premature(tr), l.regenerated(tr), l.exchanged(tr))
}

// mayStay reports whether an object is of a kind of the option Leaves.
func (l *lesson) mayStay(object string) bool {
	kind, _, _ := strings.Cut(object, " ")
	bare, _, _ := strings.Cut(kind, ".")
	return slices.Contains(l.leaves, kind) || slices.Contains(l.leaves, bare)
}

// mayBeGone reports whether a difference is that an object isn't there which may stay, and which somebody has deleted.
// When the resource has just been created, it needs the object.
func (l *lesson) mayBeGone(n int, d difference, tr *trace) bool {
	return n > 0 && d.Path == "" && d.After == nil && l.mayStay(d.object) &&
		slices.ContainsFunc(tr.disturbances, func(a armed) bool {
			return a.object == d.object && (a.act == take || a.act == hide || a.act == snatch)
		})
}

// theirs reports whether a difference is a field that the operator no longer wants, and that somebody else has changed
// before: it is theirs by then.
func theirs(d difference, tr *trace) bool {
	return d.Path != "" && d.Before == nil && slices.ContainsFunc(tr.disturbances, func(a armed) bool {
		return a.act == alter && a.object == d.object
	})
}

// mayBe reports whether the state after a chapter is right because an earlier chapter was passed.
func (l *lesson) mayBe(n int, tr *trace) bool {
	passed := slices.ContainsFunc(tr.chapters[:n], func(before lived) bool { return before.passed })
	return passed && slices.ContainsFunc(l.others[n], func(other state) bool {
		return len(l.differences(other, tr.chapters[n].end)) == 0
	})
}

// differences compares two states without the fields that differ in each execution.
func (l *lesson) differences(want, got state) []difference {
	return slices.DeleteFunc(compare(want, got), func(d difference) bool { return l.volatile[d.key()] })
}

// inconsistent compares the chapters of a life whose states have to be equal.
func (l *lesson) inconsistent() *finding {
	for _, p := range l.life.equal {
		if p.second >= len(l.chapters) || l.chapters[p.second].end == nil {
			continue // the life ended before it
		}
		before := l.began
		if p.first >= 0 {
			before = l.chapters[p.first].end
		}
		differences := slices.DeleteFunc(compare(before, l.chapters[p.second].end), func(d difference) bool {
			return l.volatile[d.key()] || !l.lingers(p, d) || l.rests(p) || d.Path == "" && (d.After != nil || p.anew) && l.mayStay(d.object)
		})
		if len(differences) > 0 {
			return found(l.trace, p.second, p.reason, texts(differences)...)
		}
	}
	return nil
}

// rests reports whether a new resource with an edit has no object of the operator, though the resource without it has
// some: a paused one is left as it is.
func (l *lesson) rests(p pair) bool {
	isNew := l.life.edited() && l.life.chapters[p.second].edited && p.anew
	return isNew && len(l.chapters[p.second].children) == 0 && len(l.chapters[0].children) > 0
}

// pauses reports whether a resource rests with the edit of a life.
func (l *lesson) pauses() bool { return slices.ContainsFunc(l.life.equal, l.rests) }

func texts(differences []difference) (lines []string) {
	for _, d := range differences {
		lines = append(lines, d.String())
	}
	return lines
}

// changesOf returns a write, and what it has changed.
func changesOf(call reconciletest.Call) []string {
	lines := []string{call.String()}
	for _, change := range call.Changes {
		lines = append(lines, difference{refName(call.Ref), change}.String())
	}
	return lines
}
