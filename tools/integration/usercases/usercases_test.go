package usercases

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// userCase is what a user does, and what has to come of it.
type userCase struct {
	name, reason string
	// in is the namespace of the resource, empty for the one in the files.
	in    string
	steps []step
}

// step is something that a user does: apply applies a file, by does anything else. wants have to come true afterwards.
type step struct {
	apply string
	by    func(s *scene)
	wants []want
}

func wants(all ...want) []want { return all }

// TestUserCases has an operator meet what users of other ones have reported. No case may lose an object.
func TestUserCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	t.Cleanup(func() {
		lost := w.lost.all()
		t.Logf("COUNT objects-lost %d", len(lost))
		assert.Empty(t, lost, "objects that are lost")
	})
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{t: t, world: w, in: c.in}
			t.Cleanup(func() { w.lost.count(context.WithoutCancel(t.Context()), s) })
			for _, step := range c.steps {
				s.take(step)
			}
		})
	}
}

// take takes a step, and waits for what has to come of it.
func (s *scene) take(step step) {
	s.t.Helper()
	if s.resource != nil {
		s.remember()
	}
	if step.apply != "" {
		s.t.Logf("apply %s", step.apply)
		s.apply(step.apply)
	}
	if step.by != nil {
		step.by(s)
	}
	s.await(step.wants...)
}

func cases() []userCase {
	return slices.Concat(recreated(), refused(), changed(), waiting(), restored(), twice())
}
