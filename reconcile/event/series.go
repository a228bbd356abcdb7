package event

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

const (
	// window is the time after which a repetition is a new event. It is also the time between two writes of a count.
	window = 6 * time.Minute
	// mostSeries bounds the events that are remembered.
	mostSeries = 2048
)

// same identifies repetitions: the version of the object doesn't count.
type same struct{ Event }

func sameAs(e Event) same {
	e.Regarding.ResourceVersion, e.Related.ResourceVersion = "", ""
	return same{e}
}

// series is an event that was written and may be repeated.
type series struct {
	ref deploy.Ref
	// count is how often the event has occurred, last when it occurred last. written is the latest written count, at
	// when it was written.
	count, written int
	last, at       time.Time
}

// due reports whether the count has to be written.
func (s *series) due(now time.Time) bool {
	return s.count > s.written && (s.written == 1 || now.Sub(s.at) >= window)
}

// mostAtOnce bounds the events about one object that are written at once. After that, one is written in each window.
const mostAtOnce = 25

type allowance struct {
	left int
	at   time.Time
}

// allow takes one event from an object's allowance, and reports whether there was one left.
func (a *allowance) allow(now time.Time) bool {
	if more := int(now.Sub(a.at) / window); more > 0 {
		a.left, a.at = min(mostAtOnce, a.left+more), now
	}
	if a.left == 0 {
		return false
	}
	a.left--
	return true
}
