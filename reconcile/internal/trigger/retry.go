package trigger

import "time"

// What an engine takes when nothing else is set.
const (
	// FirstRetry is the time before a failed object is tried again.
	FirstRetry = 250 * time.Millisecond
	// LongestRetry bounds that time, which grows.
	LongestRetry = 30 * time.Second
	// Timeout bounds one reconcile.
	Timeout = 2 * time.Minute
)

// Delay is the time before an object is tried again that has failed, and had failed that often in a row before: first,
// doubled with each failure, up to longest (spec: reconcile mistake 12).
func Delay(first, longest time.Duration, failures int) time.Duration {
	// Shifting the limit down instead of first up can't overflow.
	if failures < 63 && first <= longest>>failures {
		return first << failures
	}
	return longest
}
