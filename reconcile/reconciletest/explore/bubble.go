package explore

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest/internal/waiting"
)

// bubble is where an execution runs. What waits there forever doesn't end the test.
type bubble struct {
	name atomic.Value
	// chapter is the number of the present chapter, and passed counts the chapters, points and requests so far.
	chapter, passed atomic.Int64
	// completed: the execution has ended.
	completed bool
}

// ending is how an execution ends.
type ending int

const (
	completing ending = iota
	remaining         // goroutines remain that wait for each other
	hanging           // it doesn't end, and isn't over
)

// run runs f in a bubble of testing/synctest. In a bubble the time passes when all goroutines wait. Something that
// isn't part of the bubble, such as a mutex, may keep it from passing: then f gets some patience of real time.
func (b *bubble) run(t *testing.T, patience time.Duration, f func(t *testing.T)) ending {
	deadlock := make(chan any, 1)
	go func() {
		defer func() { deadlock <- recover() }()
		synctest.Test(t, func(t *testing.T) {
			b.name.Store(waiting.Bubble())
			f(t)
			b.completed = true
		})
	}()
	watch := time.NewTicker(patience)
	defer watch.Stop()
	for before := int64(-1); ; {
		select {
		case value := <-deadlock:
			return b.ended(t, value)
		case <-watch.C:
			now := b.passed.Load()
			if now == before {
				return hanging
			}
			before = now
		}
	}
}

// ended returns how a bubble has ended. deadlock is what synctest.Test has panicked with.
func (b *bubble) ended(t *testing.T, deadlock any) ending {
	switch {
	case deadlock != nil && strings.HasPrefix(fmt.Sprint(deadlock), "deadlock: "):
		return remaining
	case deadlock != nil:
		panic(deadlock) //nolint:forbidigo // it isn't about what this package does
	case !b.completed:
		t.FailNow() // the test of the bubble has failed
	}
	return completing
}

// neverEnds is the problem of an operator that waits forever.
const neverEnds = "a reconcile never ends"

// forever is the failure of an execution that never ends.
func (b *bubble) forever() string {
	return strings.Join(append([]string{neverEnds + ": it waits"}, b.places()...), "\n  at ")
}

// places returns where goroutines wait.
func (b *bubble) places() []string {
	name, _ := b.name.Load().(string)
	return waiting.At(name)
}

// remains notes goroutines that still wait when an execution has ended.
func (x *execution) remains() {
	switch {
	case x.failure != "" || len(x.chapters) == 0: // a reconcile never ends
	case !x.completed:
		x.failure = x.forever()
	default:
		last := &x.chapters[len(x.chapters)-1]
		for _, place := range x.places() {
			last.add(fault{"a goroutine of the operator waits forever", []string{"at " + place + ": its context has ended"}})
		}
	}
}
