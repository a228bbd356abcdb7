package schedule

import (
	"math"
	"time"
)

// instant is a time in nanoseconds since 1970: a third of the size of a time.Time.
type instant int64

const (
	// always is before all times, and never after all of them.
	always instant = math.MinInt64
	never  instant = math.MaxInt64
)

// at returns the instant of a time; always for the zero time and others that are long past.
func at(t time.Time) instant {
	switch year := t.Year(); {
	case year < 1700:
		return always
	case year > 2250:
		return never
	}
	return instant(t.UnixNano())
}

// plus returns the instant after a time that isn't negative.
func (i instant) plus(d time.Duration) instant {
	if later := i + instant(d); later >= i {
		return later
	}
	return never
}

func (i instant) time() time.Time { return time.Unix(0, int64(i)).UTC() }
