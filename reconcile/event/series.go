package event

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

const (
	// window is the time after which a repetition is a new event. It is also the shortest time between two updates of
	// the count of an event; only the first repetition is written immediately.
	window = 6 * time.Minute
	// mostSeries bounds the events that are remembered.
	mostSeries = 2048
)

// same is the key by which repetitions are recognized. Two events that differ only in resourceVersions have the same
// key.
type same struct{ Event }

func sameAs(e Event) same {
	e.Regarding.ResourceVersion, e.Related.ResourceVersion = "", ""
	return same{e}
}

// series is an event that was written and may be repeated.
type series struct {
	ref deploy.Ref
	// count is how often the event has occurred, and last is the time of the latest occurrence. written is the count
	// that was written last, and at is the time of that write.
	count, written int
	last, at       time.Time
}

// due reports whether the count has to be written.
func (s *series) due(now time.Time) bool {
	return s.count > s.written && (s.written == 1 || now.Sub(s.at) >= window)
}

// mostAtOnce bounds the burst of events about one object. When the burst is used up, one event per window is written.
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
