package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// later is how much later the second undisturbed execution begins: what depends on the time differs.
const later = 97*time.Minute + 13*time.Second

// lesson is what is known of a life without disturbances.
type lesson struct {
	*trace
	// volatile are the fields that have other values in each execution, such as passwords, by difference.key.
	volatile map[string]bool
	// faults are the faults of the execution that don't keep the operator from its work, by fault.key.
	faults map[string]bool
	// confirmed: the life was lived twice.
	confirmed bool
	// leaves are the kinds of objects that may stay, see Leaves.
	leaves []string
	// others are further states that are right after a chapter of which an earlier one was passed, and merged are the
	// chapters for which they are known.
	others map[int][]state
	merged map[[2]int]bool
}

// learn lives a life without disturbances, and judges it. It returns nil if the life isn't possible, because the
// cluster or the operator refuses an edit, or if there is a finding.
//
// A sample as it is lives twice, and so does an edit with writes that no edit before it had. Else, and beside a second
// resource, the second time comes only when something differs, see confirm.
func (e *explorer) learn(l life) (*lesson, error) {
	if e.paused(l) && l.by.First != nil {
		l.equal = l.equal[:1] // what comes after the pause isn't done
	}
	known := &lesson{
		trace: e.execute(l, nil, 0, false), volatile: maps.Clone(e.volatile), faults: map[string]bool{},
		leaves: e.options.leaves, others: map[int][]state{}, merged: map[[2]int]bool{},
	}
	if e.note(known.stuck()) {
		return nil, nil
	}
	if possible, err := known.possible(); !possible {
		if err == nil && known.failure == "" && !known.fails() && !known.accepted() {
			e.note(known.inconsistent())
		}
		return nil, err
	}
	if l.edited() && known.accepted() && known.failure == "" && known.pauses() {
		for _, path := range l.by.Paths {
			e.pauses[path] = true
		}
	}
	e.noteFaults(known)
	if l.paired() && known.failure == "" && e.note(known.alone()) {
		return nil, nil
	}
	if e.note(broken(known.trace, known.faults)) {
		return nil, nil
	}
	if (l.paired() || l.edited() && !e.novel(known)) && known.alone() == nil {
		return known, nil
	}
	if e.note(e.confirm(known)) || e.note(known.alone()) {
		return nil, nil
	}
	return known, nil
}

// paused reports whether an edit of a life makes the operator leave a resource alone.
func (e *explorer) paused(l life) bool {
	return l.edited() && slices.ContainsFunc(l.by.Paths, func(path string) bool { return e.pauses[path] })
}

// noteFaults notes the faults of a life without disturbances, and goes on: they must not hide others.
func (e *explorer) noteFaults(known *lesson) {
	for n, now := range known.chapters {
		for _, f := range now.faults {
			if f.problem != intruding && len(now.errs) == 0 {
				known.faults[f.key()] = true
				e.note(found(known.trace, n, f.problem, f.details...))
			}
		}
	}
}

// confirm lives a life for a second time, at a later time, and judges what differs. Fields that differ are volatile
// from then on.
func (e *explorer) confirm(known *lesson) *finding {
	known.confirmed = true
	second := e.execute(known.life, nil, later, false)
	if !second.accepted() {
		return nil
	}
	for _, judge := range []func() *finding{
		func() *finding { return known.repeats(second) },
		func() *finding { return broken(second, known.faults) },
		func() *finding { return e.inconstant(known.trace, second) },
	} {
		if f := judge(); f != nil {
			return f
		}
	}
	if known.life.sample != nil { // an edit may make a value one of chance
		maps.Copy(e.volatile, known.volatile)
	}
	return nil
}

// novel reports whether a life has a write that no life had before it: in the same chapter, of the same kind, and of
// the same object.
func (e *explorer) novel(known *lesson) (novel bool) {
	for n, now := range known.chapters {
		for write := range answers(now.judged) {
			key := fmt.Sprintf("%d %s", n, write)
			novel = novel || !e.written[key]
			e.written[key] = true
		}
	}
	return novel
}

// alone judges an execution without disturbances by itself.
func (l *lesson) alone() *finding {
	for _, f := range []*finding{l.inconsistent(), l.crossed(), l.robbed()} {
		if f != nil {
			return f
		}
	}
	return cmp.Or(l.premature(l.trace), l.regenerated(l.trace))
}

// judge judges an execution with disturbances.
func (e *explorer) judge(known *lesson, tr *trace) *finding {
	f := known.judge(tr)
	if f != nil && e.learnMerged(known, tr) {
		f = known.judge(tr)
	}
	if f == nil || known.confirmed || e.hangs {
		return f
	}
	if f := e.confirm(known); f != nil {
		return f
	}
	return known.judge(tr)
}

// repeats compares the states with those of a second execution. Fields may differ, and are volatile, but names may not.
func (l *lesson) repeats(second *trace) *finding {
	if second.failure != "" {
		return nil
	}
	for n := range second.chapters {
		for _, d := range compare(l.chapters[n].end, second.chapters[n].end) {
			if d.Path == "" {
				return found(l.trace, n, "names of objects depend on the time or on chance, so that nobody finds the objects again", strings.Replace(d.String(), d.object, withoutEnd(d.object), 1))
			}
			l.volatile[d.key()] = true
		}
	}
	return nil
}

// withoutEnd returns the name of an object without what follows its last hyphen: in each execution that is another one.
func withoutEnd(object string) string {
	if at := strings.LastIndex(object, "-"); at > strings.LastIndexAny(object, "/ ") {
		return object[:at+1] + "..."
	}
	return object
}
