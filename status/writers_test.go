package status_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status"
)

// store is an API server with one object. It runs one operation at a time, of
// the writer that the schedule has chosen.
type store struct {
	object  object
	version int
	// lost names the conditions that a write of somebody else's has changed.
	lost []string
}

func (s *store) read() object { return runtime.DeepCopyJSON(s.object) }

// update replaces the conditions when nobody has written since the version.
func (s *store) update(writer string, version any, conditions []any) error {
	if version != s.object["metadata"].(object)["resourceVersion"] {
		return fmt.Errorf("update: %w", apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "w", errors.New("outdated")))
	}
	s.put(writer, conditions)
	return nil
}

// apply is a server-side apply: it replaces the conditions of its writer.
func (s *store) apply(writer string, applied []any) {
	var list []any
	for _, element := range s.object["status"].(object)["conditions"].([]any) {
		if !strings.HasPrefix(element.(object)["type"].(string), writer) {
			list = append(list, element)
		}
	}
	s.put(writer, append(list, applied...))
}

func (s *store) put(writer string, conditions []any) {
	before := s.foreign(writer)
	s.object["status"].(object)["conditions"] = runtime.DeepCopyJSONValue(conditions)
	s.version++
	s.object["metadata"].(object)["resourceVersion"] = fmt.Sprint(s.version)
	if after := s.foreign(writer); !maps.Equal(before, after) {
		s.lost = append(s.lost, fmt.Sprintf("%s wrote over %v: %v", writer, before, after))
	}
}

// foreign are the conditions of the other writers, by type.
func (s *store) foreign(writer string) map[string]string {
	result := map[string]string{}
	for _, element := range s.object["status"].(object)["conditions"].([]any) {
		c := element.(object)
		if conditionType := c["type"].(string); !strings.HasPrefix(conditionType, writer) {
			result[conditionType] = fmt.Sprint(c)
		}
	}
	return result
}

// schedule lets writers run by turns, in an order that a seed decides.
type schedule struct {
	turns map[string]chan struct{}
	back  chan struct{}
	ended map[string]chan struct{}
}

// turn waits for the writer's turn and does one operation on the store.
func (s *schedule) turn(writer string, operation func()) {
	<-s.turns[writer]
	operation()
	s.back <- struct{}{}
}

// interleave runs the writers until all have ended.
func interleave(seed uint64, writers map[string]func(*schedule)) {
	s := &schedule{turns: map[string]chan struct{}{}, back: make(chan struct{}), ended: map[string]chan struct{}{}}
	names := []string{"A", "B", "C"}[:len(writers)]
	for _, name := range names {
		s.turns[name], s.ended[name] = make(chan struct{}), make(chan struct{})
	}
	for _, name := range names {
		go func() { defer close(s.ended[name]); writers[name](s) }()
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for len(names) > 0 {
		i := random.IntN(len(names))
		select {
		case s.turns[names[i]] <- struct{}{}:
			<-s.back
		case <-s.ended[names[i]]:
			names = append(names[:i], names[i+1:]...)
		}
	}
}

// way is a way to write the conditions that compute wants.
type way func(t *testing.T, s *schedule, st *store, writer string, compute func(object))

// anew computes from the latest read on each conflict, and sends a merge patch.
func anew(t *testing.T, s *schedule, st *store, writer string, compute func(object)) {
	for {
		_, err := status.Write(t.Context(), func(context.Context) (read object, err error) {
			s.turn(writer, func() { read = st.read() })
			return read, nil
		}, func(current object) (object, bool, error) {
			next := runtime.DeepCopyJSON(current)
			compute(next)
			patch, err := status.Patch(current, next, status.MergePatch, writer+"1", writer+"2")
			return patch, patch != nil, err
		}, func(_ context.Context, patch object) (err error) {
			s.turn(writer, func() {
				err = st.update(writer, patch["metadata"].(object)["resourceVersion"], patch["status"].(object)["conditions"].([]any))
			})
			return err
		})
		if !apierrors.IsConflict(err) { // ten in a row may be
			assert.NoError(t, err)
			return
		}
	}
}

// applied reads once and sends what it owns.
func applied(t *testing.T, s *schedule, st *store, writer string, compute func(object)) {
	var current object
	s.turn(writer, func() { current = st.read() })
	next := runtime.DeepCopyJSON(current)
	compute(next)
	patch, err := status.Patch(current, next, status.ServerSideApply, writer+"1", writer+"2")
	if !assert.NoError(t, err) || patch == nil {
		return
	}
	s.turn(writer, func() { st.apply(writer, patch["status"].(object)["conditions"].([]any)) })
}

// stubborn is what oper8 does: it computes from one read, and writes that with
// the version of another.
func stubborn(_ *testing.T, s *schedule, st *store, writer string, compute func(object)) {
	var next object
	s.turn(writer, func() { next = st.read() })
	compute(next)
	for done := false; !done; {
		var version any
		s.turn(writer, func() { version = st.read()["metadata"].(object)["resourceVersion"] })
		s.turn(writer, func() { done = st.update(writer, version, next["status"].(object)["conditions"].([]any)) == nil })
	}
}

// race runs writers in one interleaving. Each has two conditions, of which the
// second comes and goes. The answer is what was lost.
func race(t *testing.T, seed uint64, write way, names ...string) []string {
	const steps = 6
	st := &store{object: object{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"name": "w", "resourceVersion": "0"},
		"status": object{"conditions": []any{object{"type": "Foreign", "status": "True", "probe": object{"a": int64(1)}}}},
	}}
	writers := map[string]func(*schedule){}
	for _, writer := range names {
		writers[writer] = func(s *schedule) {
			for step := 1; step <= steps; step++ {
				write(t, s, st, writer, func(o object) {
					conditions := status.Conditions(o)
					conditions.Set(now, metav1.Condition{Type: writer + "1", Status: "True", Reason: "Step", Message: fmt.Sprint(step)})
					if step%2 == 0 {
						conditions.Set(now, metav1.Condition{Type: writer + "2", Status: "False", Reason: "Even"})
					} else {
						conditions.Remove(writer + "2")
					}
				})
			}
		}
	}
	interleave(seed, writers)
	lost := st.lost
	for _, writer := range names {
		c, _ := status.Conditions(st.object).Get(writer + "1")
		if c.Message != fmt.Sprint(steps) || !status.Conditions(st.object).IsFalse(writer+"2") {
			lost = append(lost, writer+"'s last step")
		}
	}
	return lost
}

func TestWritersLoseNothing(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]way{"computed anew on each conflict": anew, "own conditions applied": applied} {
		t.Run("status W6, 10: "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for seed := range uint64(100) {
					require.Empty(t, race(t, seed, write, "A", "B"), "seed %d", seed)
					require.Empty(t, race(t, seed, write, "A", "B", "C"), "seed %d, three writers", seed)
				}
			})
		})
	}
	t.Run("status W6: the interleavings are such that oper8's way loses", func(t *testing.T) {
		t.Parallel()
		losing := 0
		for seed := range uint64(100) {
			if len(race(t, seed, stubborn, "A", "B")) > 0 {
				losing++
			}
		}
		assert.Greater(t, losing, 50)
	})
}
