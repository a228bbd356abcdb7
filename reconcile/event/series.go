package event

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

const (
	// window is the time after which a repetition is a new event, and between two writes of a count.
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
	// count is how often it came, at last for the last time; written is the count that was written, at when.
	count, written int
	last, at       time.Time
}

// due reports whether the count has to be written.
func (s *series) due(now time.Time) bool {
	return s.count > s.written && (s.written == 1 || now.Sub(s.at) >= window)
}

// allowance bounds the events about one object: a burst, and then one in each window.
const mostAtOnce = 25

type allowance struct {
	left int
	at   time.Time
}

// allow takes one of an object's allowance, if there is one left.
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
