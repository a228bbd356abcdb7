package handlers_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// besides is the life of a claim with writes beside those of its causes: of daemons, a timer and handlers of events. It
// is in a bubble, in which daemons sleep in simulated time.
type besides struct {
	t *testing.T
	*reconciletest.Harness
	// chapter is the part of the life. states are those at the end of each, and writes those of all.
	chapter string
	states  map[string]string
	writes  int

	mu sync.Mutex
	// succeeded counts the successes of each handler in each chapter.
	succeeded map[string]int
}

// lives lives the whole life in a bubble. It is killed at a write, unless that is 0.
func lives(t *testing.T, at int, arrives bool, opts []handlers.KindOption) (l *besides) {
	synctest.Test(t, func(t *testing.T) {
		l = &besides{t: t, states: map[string]string{}, succeeded: map[string]int{}}
		l.Harness = reconciletest.Drive(t, l.handlers(opts))
		if at > 0 {
			l.Kill(at, arrives)
		}
		for _, chapter := range []struct {
			name  string
			begin func()
		}{
			{"create", func() { l.Apply(small) }},
			{"grow", func() { edit(l.Harness, "size", int64(2)) }},
			{"report", l.report},
			{"delete", func() { l.Delete("Claim small") }},
		} {
			l.chapter = chapter.name
			chapter.begin()
			l.pass(5 * time.Minute)
			l.states[l.chapter] = l.state()
		}
		l.Gone("Claim small")
	})
	return l
}

// report reports the same twice: what a killed process was told isn't told to the next one.
func (l *besides) report() {
	now := l.Now()
	l.Apply(reported("one", "kubelet", "Broken", now))
	l.pass(time.Minute)
	l.Apply(reported("one", "kubelet", "Broken", now) +
		"series: {count: 2, lastObservedTime: '" + l.Now().UTC().Format("2006-01-02T15:04:05.000000Z") + "'}\n")
}

// pass lets time pass, and counts the writes in it.
func (l *besides) pass(d time.Duration) {
	l.Advance(d)
	for _, call := range l.Calls() {
		if call.Write() {
			l.writes++
		}
	}
}

func (l *besides) succeeds(what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.Killed() {
		l.succeeded[l.chapter+": "+what]++
	}
	return nil
}

// state returns what has to be the same in each life. The next process calls a daemon again, so its condition may be
// about a later generation.
func (l *besides) state() string {
	claim := l.Get("Claim small")
	if claim == nil {
		return "gone"
	}
	status := maps.Clone(claim.Object["status"].(map[string]any))
	conditions, _, _ := unstructured.NestedSlice(status, "conditions")
	for _, condition := range conditions {
		delete(condition.(map[string]any), "lastTransitionTime")
		delete(condition.(map[string]any), "observedGeneration")
	}
	status["conditions"] = conditions
	record := claim.GetAnnotations()["operkit.dev/operkit-handled.operkit"]
	return fmt.Sprint(claim.GetFinalizers(), status, record != "", strings.Contains(record, "cycle"))
}

// TestHandlersSurviveKillsBeside kills the process before and after each write of such a life.
func TestHandlersSurviveKillsBeside(t *testing.T) {
	surviveBeside(t, "in a bubble")
	surviveBeside(t, "in a bubble, with the record in the status", handlers.RecordInStatus("handled"))
}

func surviveBeside(t *testing.T, where string, opts ...handlers.KindOption) {
	undisturbed := lives(t, 0, false, opts)
	assert.Equal(t, map[string]int{"create: make": 1, "grow: grow": 1, "delete: detach": 1}, undisturbed.succeeded)
	for _, set := range []string{"measure:2", "probe:answers", "tick:2", "look:2", "hear:Broken", "type:Probed", "status:True"} {
		require.Contains(t, undisturbed.states["report"], set)
	}
	t.Logf("SOAK handlers: killed %s at each of %d writes of daemons, a timer and handlers of events, before and after it",
		where, undisturbed.writes)
	for at := 1; at <= undisturbed.writes; at++ {
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("handlers 101: killed %s at write %d, which arrives: %t", where, at, arrives), func(t *testing.T) {
				l := lives(t, at, arrives, opts)
				assert.Equal(t, undisturbed.states, l.states)
				repeated := 0
				for what, times := range undisturbed.succeeded {
					assert.GreaterOrEqual(t, l.succeeded[what], times, "%s is lost", what)
					repeated += l.succeeded[what] - times
				}
				assert.Len(t, l.succeeded, len(undisturbed.succeeded))
				assert.LessOrEqual(t, repeated, 1, "only the handler that was running is repeated: %v", l.succeeded)
			})
		}
	}
}
