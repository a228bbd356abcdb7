package explore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// later is how much later the second undisturbed execution begins: what depends on the time differs.
const later = 97*time.Minute + 13*time.Second

// lesson is what is known of a life without disturbances.
type lesson struct {
	*trace
	// volatile are the fields that have other values in each execution, such as passwords, by difference.key.
	volatile map[string]bool
}

// learn lives a life twice without disturbances, and judges it. It returns nil if the life isn't possible, because the
// cluster refuses an edit.
func (e *explorer) learn(l life) (*lesson, error) {
	known := &lesson{trace: e.execute(l, nil, 0, false), volatile: map[string]bool{}}
	if known.refused != nil {
		if len(known.chapters) == 1 {
			return nil, fmt.Errorf("the cluster refuses the sample: %w", known.refused)
		}
		return nil, nil
	}
	if known.runs == 0 && known.failure == "" {
		return nil, errors.New("the operator never reconciles the sample: check whether it filters it out")
	}
	if l.sample == nil && known.failure == "" && known.fails() {
		return nil, nil // the operator is right to fail: not every value that the schema allows makes sense
	}
	if e.note(undisturbed(known.trace)) {
		return nil, nil
	}
	second := e.execute(l, nil, later, false)
	if !second.accepted() || e.note(broken(second)) {
		return nil, nil
	}
	for n := range second.chapters {
		for _, d := range compare(known.chapters[n].end, second.chapters[n].end) {
			if d.Path == "" {
				e.note(found(known.trace, n, "names of objects depend on the time or on chance, so that nobody finds the objects again", d.String()))
				return nil, nil
			}
			known.volatile[d.key()] = true
		}
	}
	if e.note(known.inconsistent(e.options.leaves)) || e.note(known.regenerated(known.trace)) {
		return nil, nil
	}
	return known, nil
}

// accepted reports whether the cluster accepts all that the life begins chapters with.
func (tr *trace) accepted() bool { return tr.refused == nil }

// fails reports whether a reconcile fails in the end.
func (tr *trace) fails() bool {
	return slices.ContainsFunc(tr.chapters, func(now lived) bool { return len(now.errs) > 0 })
}

// undisturbed judges an execution by itself.
func undisturbed(tr *trace) *finding {
	if f := broken(tr); f != nil {
		return f
	}
	for n, now := range tr.chapters {
		if tr.life.unready != "" && len(now.ready) > 0 {
			return found(tr, n, "the status isn't true", now.ready[0]+" is Ready, but "+tr.life.unready+" isn't")
		}
	}
	return nil
}

// inconsistent compares the chapters of a life whose states have to be equal.
func (l *lesson) inconsistent(leaves []string) *finding {
	for _, p := range l.life.equal {
		before := l.began
		if p.first >= 0 {
			before = l.chapters[p.first].end
		}
		differences := slices.DeleteFunc(compare(before, l.chapters[p.second].end), func(d difference) bool {
			kind, _, _ := strings.Cut(d.object, " ")
			return l.volatile[d.key()] || strings.HasPrefix(d.Path, ".status") || // what has happened may show in a status
				d.Path == "" && d.After != nil && slices.Contains(leaves, kind)
		})
		if len(differences) > 0 {
			return found(l.trace, p.second, p.reason, texts(differences)...)
		}
	}
	return nil
}

// broken judges what must hold in each execution.
func broken(tr *trace) *finding {
	last := len(tr.chapters) - 1
	if tr.failure != "" {
		return found(tr, last, "the operator doesn't come to rest", strings.Split(strings.TrimPrefix(tr.failure, "reconciletest: "), "\n")...)
	}
	for n, now := range tr.chapters {
		for _, name := range slices.Sorted(maps.Keys(now.errs)) {
			return found(tr, n, "a reconcile fails again and again", name+": "+now.errs[name])
		}
		if len(now.again) > 0 {
			return found(tr, n, "the operator writes though nothing has changed", now.again[0].String())
		}
		if len(now.anew) > 0 {
			return found(tr, n, "the operator writes after a restart though nothing has changed", changesOf(now.anew[0])...)
		}
	}
	return nil
}

// judge judges an execution with disturbances.
func (l *lesson) judge(tr *trace) *finding {
	if tr.equal {
		return nil
	}
	if tr.refused != nil {
		return found(tr, len(tr.chapters)-1, "the cluster refuses what it accepts without the disturbance", tr.refused.Error())
	}
	if f := broken(tr); f != nil {
		return f
	}
	for n, now := range tr.chapters {
		if now.passed {
			continue
		}
		differences := slices.DeleteFunc(compare(l.chapters[n].end, now.end), func(d difference) bool { return l.volatile[d.key()] })
		if len(differences) > 0 {
			return found(tr, n, "the cluster ends in another state than without the disturbance", texts(differences)...)
		}
	}
	return l.regenerated(tr)
}

// regenerated finds a value that was made by chance, was stored, and was replaced by another one, though it isn't
// without the disturbance. Without one only Secrets count.
func (l *lesson) regenerated(tr *trace) *finding {
	for n, now := range tr.chapters {
		for _, call := range now.calls {
			for _, change := range call.Changes {
				d := difference{refName(call.Ref), change}
				replaced := l.volatile[d.key()] && change.Before != nil && change.After != nil && call.Err == nil
				if replaced && !strings.HasPrefix(d.Path, ".status") && (tr == l.trace && call.Ref.Kind.Kind == "Secret" || tr != l.trace && !l.replaces(n, d) && !(tr.chapters[n].passed && l.replaces(n+1, d))) {
					return found(tr, n, "a generated value changes", d.object+" "+d.Path)
				}
			}
		}
	}
	return nil
}

// replaces reports whether a field is changed in a chapter without disturbances.
func (l *lesson) replaces(n int, d difference) bool {
	if n >= len(l.chapters) {
		return false
	}
	return slices.ContainsFunc(l.chapters[n].calls, func(call reconciletest.Call) bool {
		return refName(call.Ref) == d.object && slices.ContainsFunc(call.Changes, func(change deploy.Change) bool { return change.Path == d.Path })
	})
}

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
		lines = append(lines, change.String())
	}
	return lines
}
