package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// expected is what is to be known of a key.
type expected struct {
	wanted, running, dropped bool
	due                      time.Time
	taken                    Taken
}

// limited is the kind with a limit.
const limit = 1

var limited = schema.GroupVersionKind{Version: "v1", Kind: "Limited"}

// keyOf returns the key of a name; half of the names are of the kind with a limit.
func keyOf(name string) deploy.Ref {
	if name < "3" {
		return deploy.Ref{Kind: limited, Name: name}
	}
	return key(name)
}

// model does with plain fields what a Queue does, one step after the other.
type model struct {
	keys map[string]*expected
}

func (m *model) of(name string) *expected {
	if m.keys[name] == nil {
		m.keys[name] = &expected{}
	}
	return m.keys[name]
}

// pass has the timers fire that are due.
func (m *model) pass() {
	for _, e := range m.keys {
		if !e.due.IsZero() && !e.due.After(time.Now()) {
			e.due, e.wanted = time.Time{}, true
		}
	}
}

func (m *model) count(is func(*expected) bool) (n int) {
	for _, e := range m.keys {
		if is(e) {
			n++
		}
	}
	return n
}

// running counts the running keys of the kind with a limit.
func (m *model) running() (n int) {
	for name, e := range m.keys {
		if name < "3" && e.running {
			n++
		}
	}
	return n
}

// canTake reports whether a key can be handed out.
func (m *model) canTake() bool {
	for name, e := range m.keys {
		if e.wanted && !e.running && (name >= "3" || m.running() < limit) {
			return true
		}
	}
	return false
}

// step does one thing to both.
func (m *model) step(t *testing.T, q *Queue, random *rand.Rand) {
	name := fmt.Sprint(random.IntN(6))
	e := m.of(name)
	switch random.IntN(7) {
	case 0, 1:
		q.Add(keyOf(name), 1<<random.IntN(11))
		e.wanted = true
	case 2:
		after := time.Duration(1+random.IntN(50)) * time.Second
		q.later(keyOf(name), after, request.Periodic)
		e.due = time.Now().Add(after)
	case 3:
		q.Cancel(keyOf(name))
		e.due, e.dropped = time.Time{}, e.running
	case 4:
		q.Drop(keyOf(name))
		e.wanted, e.dropped, e.due = false, e.running, time.Time{}
	case 5:
		if !m.canTake() {
			return
		}
		got, ok := q.get()
		require.True(t, ok)
		require.NotZero(t, got.Triggers)
		e = m.of(got.Key.Name)
		require.True(t, e.wanted && !e.running, "%s is handed out", got.Key.Name)
		require.True(t, got.Key.Name >= "3" || m.running() < limit, "no more than the limit")
		e.wanted, e.running, e.taken = false, true, got
	case 6:
		next := []Next{{}, {Unchanged: true}, {After: time.Duration(1+random.IntN(50)) * time.Second, Why: request.Periodic}}[random.IntN(3)]
		require.Equal(t, e.dropped, q.finish(e.taken, next))
		switch {
		case !e.running || e.dropped || next.Unchanged:
		case next.After > 0:
			e.due = time.Now().Add(next.After)
		default:
			e.due = time.Time{}
		}
		e.running, e.dropped = false, false
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random, q, m := rand.New(rand.NewPCG(seed, 7)), New(), &model{map[string]*expected{}}
			q.Limit(limited.GroupKind(), limit)
			for range 300 {
				m.step(t, q, random)
				if random.IntN(5) == 0 {
					time.Sleep(time.Duration(random.IntN(20)) * time.Second)
				}
				synctest.Wait()
				m.pass()
				state := q.State()
				require.Equal(t, m.count(func(e *expected) bool { return e.wanted }), state.Waiting, "seed %d", seed)
				require.Equal(t, m.count(func(e *expected) bool { return !e.due.IsZero() }), state.Timers, "seed %d", seed)
				require.Len(t, q.items, m.count(func(e *expected) bool { return e.wanted || e.running || !e.due.IsZero() }), "seed %d", seed)
			}
			q.Close()
			assert.Empty(t, q.items)
		})
	}
}
