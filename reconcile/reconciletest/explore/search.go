package explore

import (
	"math/rand/v2"

	"github.com/operkit/operkit/deploy"
)

func (e *explorer) spent() bool {
	return e.visited >= e.options.states || len(e.findings) >= e.options.findings
}

// possible returns all disturbances of one execution: those from the first chapter on.
func (e *explorer) possible(tr *trace, first int) (choices []choice) {
	for n := first; n < len(tr.chapters); n++ {
		now, last := tr.chapters[n], n == len(tr.life.chapters)-1
		add := func(request int, acts ...act) {
			for _, a := range acts {
				if !last || a != hurry && a != hide && a != miss { // these need a next chapter
					choices = append(choices, choice{n + 1, request, a})
				}
			}
		}
		add(0, restart, miss)
		for i, call := range now.calls {
			add(i+1, actsAt(call)...)
			if call.Action == deploy.Configured && call.Ref.Kind.GroupKind() != e.kind.GroupKind() {
				add(i+1, snatch)
			}
		}
		for i := range now.children {
			add(i+1, take, drift, hide)
		}
		for i := range now.points {
			add(i+1, reverse)
		}
	}
	return choices
}

// disturbAll tries each disturbance of a life alone. The creation of a resource is disturbed in the life of the sample
// as it is.
func (e *explorer) disturbAll(known *lesson) {
	first := 1
	if known.life.sample != nil {
		first = 0
	}
	for _, c := range e.possible(known.trace, first) {
		if e.spent() {
			return
		}
		e.note(known.judge(e.follow(known, plan{c}, true)))
		e.disturbed++
	}
}

// follow executes a life with a plan. Each choice is about the requests of the execution with the choices before it.
// ends means that the execution ends when it comes into a state that goes on as in an earlier one.
func (e *explorer) follow(known *lesson, p plan, ends bool) *trace {
	tr := known.trace
	var disturbances []armed
	for i, c := range p {
		if c.chapter > len(tr.chapters) || !c.fits(tr.chapters[c.chapter-1]) {
			e.t.Fatalf("explore: plan %s: %s of %q has no such request or object: the operator has changed since it was found", p, c, known.life)
		}
		disturbances = append(disturbances, c.arm(tr.chapters[c.chapter-1]))
		tr = e.execute(known.life, disturbances, 0, ends && i == len(p)-1)
	}
	return tr
}

// wander tries two disturbances together, chosen at random.
func (e *explorer) wander(learned []*lesson) {
	random := rand.New(rand.NewPCG(e.options.seed, 0))
	for len(learned) > 0 && !e.spent() {
		known := learned[random.IntN(len(learned))]
		choices := e.possible(known.trace, 0)
		first := choices[random.IntN(len(choices))]
		tr := e.follow(known, plan{first}, false)
		var next []choice
		for _, c := range e.possible(tr, first.chapter-1) {
			if c.follows(first) {
				next = append(next, c)
			}
		}
		if e.note(known.judge(tr)) || len(next) == 0 {
			continue
		}
		e.note(known.judge(e.follow(known, plan{first, next[random.IntN(len(next))]}, true)))
		e.walked++
	}
}

// follows reports whether a choice comes after another one. In one chapter only one process can be killed.
func (c choice) follows(first choice) bool {
	if c.chapter != first.chapter {
		return c.chapter > first.chapter
	}
	switch {
	case first.atEnd() || c.place() == atPoint || c.act == miss:
		return false
	case c.atEnd() || first.place() != atRequest:
		return true
	}
	return c.request > first.request && !(c.kills() && first.kills())
}

func (c choice) kills() bool { return c.act == killBefore || c.act == killAfter || c.act == depose }

// atEnd reports whether a disturbance happens at the end of its chapter.
func (c choice) atEnd() bool { return c.act == restart || c.place() == atChild }

// note adds a finding, unless there is one like it, and reports whether there is any.
func (e *explorer) note(f *finding) bool {
	if f == nil {
		return false
	}
	for _, other := range e.findings {
		if other.problem == f.problem && other.subject() == f.subject() {
			return true
		}
	}
	e.findings = append(e.findings, f)
	return true
}
