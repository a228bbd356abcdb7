package reconcile

import (
	"slices"
	"testing"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
)

// A reconcile that fails is told from one that is stuck by how many objects are as they should be.
func TestFurthest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var failing []string
	w.refuse = func(call string) error {
		if slices.Contains(failing, call) {
			return forbidden("patch", "configmaps")
		}
		return nil
	}
	r := w.reconciler(adding(func(s *Session) {
		for _, name := range []string{"a", "b", "c"} {
			s.Add(name, configMap(name))
		}
	}))
	const a, b, c = "apply ConfigMap shop/a", "apply ConfigMap shop/b", "apply ConfigMap shop/c"
	for _, step := range []struct {
		reason  string
		failing []string
		before  func()
		fails   bool
		further bool
	}{
		{"the first, with nothing", []string{a, b, c}, nil, true, false},
		{"nothing more", []string{a, b, c}, nil, true, false},
		{"one more", []string{b, c}, nil, true, true},
		{"the same again", []string{b, c}, nil, true, false},
		{"two at once", []string{a}, func() { w.delete(configMapRef("a")) }, true, true},
		{"what was there before is no progress", []string{b}, func() { w.delete(configMapRef("b")) }, true, false},
		{"another spec", []string{b}, func() { w.merge(widgetRef, `{"spec":{"size":4},"metadata":{"generation":2}}`) }, true, true},
		{"all is well", nil, nil, false, false},
		{"which is forgotten then", []string{c}, func() { w.delete(configMapRef("c")) }, true, true},
	} {
		if step.before != nil {
			step.before()
		}
		failing = step.failing
		_, _, err := w.once(r)
		assert.Equal(t, step.fails, err != nil, step.reason)
		assert.Equal(t, step.further, request.Resolve(err).Advanced, step.reason)
	}
	w.delete(widgetRef)
	_, _, _ = w.once(r)
	assert.Zero(t, r.memory.Len(), "who is gone")
}
