package limits

import (
	"fmt"
	"time"
)

const (
	// Timeout is the time of a call without another limit.
	Timeout = 10 * time.Second
	// Response is the size of the largest response without another limit, in bytes.
	Response = 10 << 20
	// Text is how much an error repeats of what a hook says, in bytes.
	Text = 500
)

// SizeError reports that the response of a hook is too large.
type SizeError struct {
	// Hook is the URL or the command of the hook.
	Hook string
	// Limit is the largest response, in bytes.
	Limit int64
}

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("hook %s: the response is larger than %d bytes", e.Hook, e.Limit)
}

// TimeoutError reports that a hook hasn't responded in time.
type TimeoutError struct {
	// Hook is the URL or the command of the hook.
	Hook  string
	Limit time.Duration
}

// Error names the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("hook %s: no response within %s: make the hook faster, or raise its timeout", e.Hook, e.Limit)
}
