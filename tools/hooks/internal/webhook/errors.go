package webhook

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/text"
)

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
	content, _ := io.ReadAll(io.LimitReader(response.Body, 2*limits.Text)) // best effort: it is for people
	said := string(content)
	for _, word := range strings.Fields(secret) {
		said = strings.ReplaceAll(said, word, "[hidden]")
	}
	return &StatusError{address, response.StatusCode, text.OneLine(said, limits.Text), retryAfter(response.Header.Get("Retry-After"), time.Now())}
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
