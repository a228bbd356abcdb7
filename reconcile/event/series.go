package event

import (
	"time"

	"github.com/operkit/operkit/deploy"
)

const (
	// window is after what time the same event again is another one, and how often the count of one that goes on is written.
	window = 6 * time.Minute
	// mostSeries is of how many events is known that they were written.
	mostSeries = 2048
)

// same tells which events are one: what has moved on meanwhile, the version of the object, doesn't count.
type same struct{ Event }

func sameAs(e Event) same {
	e.Regarding.ResourceVersion, e.Related.ResourceVersion = "", ""
	return same{e}
}

// series is an event that was written, and may come again.
type series struct {
	ref deploy.Ref
	// count is how often it came, last when it did so last; written is the count that is written, at when that was.
	count, written int
	last, at       time.Time
}

// due tells whether the count is to be written.
func (s *series) due(now time.Time) bool {
	return s.count > s.written && (s.written == 1 || now.Sub(s.at) >= window)
}

// allowance bounds how many events are written about one object: so many at once, and then one each window.
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
