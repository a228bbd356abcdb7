package webhook

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/text"
)

// maxText is how much of a response an error repeats, in bytes.
const maxText = 500

// StatusError reports that a hook returned another status than 200.
type StatusError struct {
	URL  string
	Code int
	// Text is the begin of the response, in one line.
	Text string
	// RetryAfter is the time that the hook asks to wait, zero if it doesn't.
	RetryAfter time.Duration
}

// Error names the status and the response.
func (e *StatusError) Error() string {
	message := fmt.Sprintf("hook %s: status %d %s, expected 200", e.URL, e.Code, http.StatusText(e.Code))
	if e.Code >= http.StatusMultipleChoices && e.Code < http.StatusBadRequest {
		message += ": redirects aren't followed: configure the URL that the hook redirects to"
	}
	if e.Text != "" {
		message += ": " + e.Text
	}
	return message
}

// statusError returns the error for a response. secret is a text that the error must not have, empty for none.
func statusError(address string, response *http.Response, secret string) *StatusError {
	content, _ := io.ReadAll(io.LimitReader(response.Body, 2*maxText)) // best effort: it is for people
	said := string(content)
	for _, word := range strings.Fields(secret) {
		said = strings.ReplaceAll(said, word, "[hidden]")
	}
	return &StatusError{address, response.StatusCode, text.OneLine(said, maxText), retryAfter(response.Header.Get("Retry-After"), time.Now())}
}

// retryAfter returns the time of a header Retry-After: a number of seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(time.Duration(max(min(seconds, int(longest/time.Second)), 0))*time.Second, longest)
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(min(date.Sub(now), longest), 0)
	}
	return 0
}

// SizeError reports that the response of a hook is too large.
type SizeError struct {
	URL string
	// Limit is the largest response, in bytes.
	Limit int64
}

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("hook %s: the response is larger than %d bytes", e.URL, e.Limit)
}

// TimeoutError reports that a hook hasn't responded in time.
type TimeoutError struct {
	URL   string
	Limit time.Duration
}

// Error names the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("hook %s: no response within %s: make the hook faster, or raise its timeout", e.URL, e.Limit)
}
