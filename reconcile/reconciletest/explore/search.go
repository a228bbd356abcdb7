package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/operkit/operkit/deploy"
)

// possible returns all disturbances of one execution: those from the first chapter on.
func (e *explorer) possible(tr *trace, first int) (choices []choice) {
	for n := first; n < len(tr.chapters); n++ {
		now, last := tr.chapters[n], n == len(tr.life.chapters)-1
		add := func(request int, acts ...act) {
			for _, a := range acts {
				if !last || a != hurry && a != lagResource && a != hide && a != miss { // these need a next chapter
					choices = append(choices, choice{n + 1, request, a})
				}
			}
		}
		add(0, restart, miss)
		for i, call := range now.calls {
			ofResource := call.Ref.Kind.GroupKind() == e.kind.GroupKind()
			add(i+1, actsAt(call)...)
			add(i+1, lagsAt(call, ofResource)...)
			if call.Action == deploy.Configured && !ofResource {
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

// choicesOf returns the disturbances of a life that are tried alone. The creation of a resource is disturbed in the
// life of the sample as it is.
func (e *explorer) choicesOf(known *lesson) []choice {
	if known.life.sample != nil {
		return e.possible(known.trace, 0)
	}
	return e.possible(known.trace, 1)
}

// disturbOnce tries one disturbance of a life alone.
func (e *explorer) disturbOnce(known *lesson, c choice) {
	e.note(e.judge(known, e.follow(known, plan{c}, true)))
	e.disturbed++
	e.covered.tried(known, c)
}

// follow executes a life with a plan. Each choice is about the requests of the execution with the choices before it.
// ends means that the execution ends when it comes into a state that goes on as in an earlier one.
func (e *explorer) follow(known *lesson, p plan, ends bool) *trace {
	tr, err := e.attempt(known, p, ends)
	if err != nil {
		e.t.Fatalf("explore: %v", err)
	}
	return tr
}

// attempt is follow for a plan that may not fit. Then it returns an error.
func (e *explorer) attempt(known *lesson, p plan, ends bool) (*trace, error) {
	tr := known.trace
	var disturbances []armed
	for i, c := range p {
		if !slices.Contains(e.possible(tr, c.chapter-1), c) {
			return nil, fmt.Errorf("plan %s: %s of %q has no such request or object: the operator has changed since it was found", p, c, known.life)
		}
		disturbances = append(disturbances, c.arm(tr.chapters[c.chapter-1]))
		tr = e.execute(known.life, disturbances, 0, ends && i == len(p)-1)
		e.atlas.followed(known, tr)
	}
	return tr, nil
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
		if e.note(e.judge(known, tr)) || len(next) == 0 {
			continue
		}
		e.note(e.judge(known, e.follow(known, plan{first, next[random.IntN(len(next))]}, true)))
		e.walked++
	}
}

// follows reports whether a choice comes after another one. In one chapter only one process can be killed.
func (c choice) follows(first choice) bool {
	if c.chapter != first.chapter {
		return c.chapter > first.chapter
	}
	switch {
	case first.atEnd() || c.place() == atPoint || c.act == miss || first.lags() && c.atEnd():
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
		if f.same(other) {
			return true
		}
	}
	e.findings = append(e.findings, f)
	return true
}
