package schedule

import (
	"testing"
	"time"
	"unsafe"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const objects = 10_000

// twoTimers are the rules of a kind, and the states of its objects.
func twoTimers() (Rules, [][]State) {
	rules := Rules{&Timer{Interval: new(time.Minute), Sharp: true}, &Timer{Interval: new(time.Hour), Idle: new(time.Minute)}}
	all := make([][]State, objects)
	for i := range all {
		seen := second(float64(i) / 1000)
		all[i] = []State{rules[0].Start(State{}, seen, time.Time{}, seen), rules[1].Start(State{}, seen, time.Time{}, seen)}
	}
	return rules, all
}

func TestCost(t *testing.T) { // not parallel: it counts allocations
	t.Run("handlers 41: a state is small, and to ask for what isn't due allocates nothing", func(t *testing.T) {
		assert.LessOrEqual(t, unsafe.Sizeof(State{}), uintptr(32))
		rules, all := twoTimers()
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			_, _, _ = rules.Due(all[0], second(0), second(-1))
		}))
	})
}

// The moments of 10 000 objects with two timers each, for ten minutes: each object is asked again exactly when one of its
// timers is due.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	t.Run("handlers 42: the moments are exact", func(t *testing.T) {
		rules, all := twoTimers()
		calls := [2]int{}
		for object, states := range all {
			seen := second(float64(object) / 1000)
			for now, ok := seen, true; ok && now.Before(seen.Add(10*time.Minute)); {
				var ready []int
				ready, _, _ = rules.Due(states, seen, now)
				require.NotEmpty(t, ready)
				for _, i := range ready {
					require.Zero(t, now.Sub(seen)%time.Minute)
					states[i] = rules[i].Ended(states[i].Begin(progress.Limits{}, now), now, now)
					calls[i]++
				}
				_, now, ok = rules.Due(states, seen, now)
			}
		}
		assert.Equal(t, [2]int{10 * objects, objects}, calls)
	})
}

// One pass over each of 10 000 objects with two timers, of which none is due.
func BenchmarkDue(b *testing.B) {
	rules, all := twoTimers()
	b.ReportAllocs()
	for b.Loop() {
		for _, states := range all {
			if ready, _, _ := rules.Due(states, second(0), second(-1)); ready != nil {
				b.Fatal("nothing is due yet")
			}
		}
	}
	b.ReportMetric(float64(2*unsafe.Sizeof(State{})), "bytes/object")
}

// One pass over each of 10 000 objects with two timers, of which one is due and called.
func BenchmarkCall(b *testing.B) {
	rules, all := twoTimers()
	b.ReportAllocs()
	now := second(0)
	for b.Loop() {
		now = now.Add(time.Minute)
		for _, states := range all {
			ready, _, _ := rules.Due(states, now, now)
			for _, i := range ready {
				states[i] = rules[i].Ended(states[i].Begin(progress.Limits{}, now), now, now)
			}
		}
	}
}

// The next moment of a cron.
func BenchmarkMoment(b *testing.B) {
	for name, expression := range map[string]string{"daily": "0 3 * * *", "weekly": "0 3 * * 0", "leap": "0 3 29 2 *"} {
		b.Run(name, func(b *testing.B) {
			c := newCron(b, expression, "Europe/Berlin")
			b.ReportAllocs()
			for b.Loop() {
				c.next(second(0))
			}
		})
	}
}
