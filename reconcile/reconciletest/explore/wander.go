package explore

import (
	"math/rand/v2"
	"slices"
)

// longestWalk is how many disturbances a random walk has at most, and shortestWalk at least: fewer are tried anyway.
const (
	longestWalk  = 6
	shortestWalk = 3
)

// wander follows random walks of several disturbances. Each goes on from a random point of the walk before it, whose
// executions are at hand, or begins anew. No walk is followed twice.
func (e *explorer) wander(learned []*lesson) {
	random := rand.New(rand.NewPCG(e.options.seed, 0))
	w := &wanderer{explorer: e, followed: map[string]bool{}}
	for len(learned) > 0 && !e.spent() {
		if len(w.trail) == 0 {
			w.known = learned[random.IntN(len(learned))]
			w.trail = []*trace{w.known.trace}
		}
		next := w.next()
		if len(next) == 0 || !w.step(next[random.IntN(len(next))]) {
			w.trail = w.trail[:random.IntN(len(w.trail))]
		}
	}
}

// wanderer is on a random walk.
type wanderer struct {
	*explorer
	known *lesson
	// trail are the executions of the walk: each has one disturbance more than the one before it.
	trail []*trace
	// followed are the walks that were followed.
	followed map[string]bool
}

// next returns the disturbances with which the walk can go on.
func (w *wanderer) next() []choice {
	last := w.trail[len(w.trail)-1]
	if len(last.disturbances) == 0 {
		return w.possible(last, 0)
	}
	if len(last.disturbances) == longestWalk {
		return nil
	}
	choices := w.following(last, last.disturbances[len(last.disturbances)-1].choice)
	return slices.DeleteFunc(choices, func(c choice) bool { return w.followed[w.walk(c)] })
}

// walk returns the name of the walk with one more disturbance.
func (w *wanderer) walk(c choice) string {
	return w.known.life.name + between + append(planOf(w.trail[len(w.trail)-1].disturbances), c).String()
}

// step goes on with a disturbance. It reports whether the walk can go on from there.
func (w *wanderer) step(c choice) bool {
	last := w.trail[len(w.trail)-1]
	disturbances := append(slices.Clone(last.disturbances), c.arm(last.chapters[c.chapter-1]))
	long := len(disturbances) >= shortestWalk
	if long {
		w.followed[w.walk(c)] = true
		w.walked++
	}
	tr := w.follow(w.known, disturbances, long)
	if w.note(w.judge(w.known, tr)) || tr.equal {
		return false
	}
	w.trail = append(w.trail, tr)
	return true
}
