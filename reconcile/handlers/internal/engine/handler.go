package engine

import (
	"context"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// firstBackoff and longestBackoff bound the time between two attempts, unless Backoff sets it.
const firstBackoff, longestBackoff = time.Second, time.Minute

// longestText bounds the text of an error in a record.
const longestText = 1024

// Handler is a registered function.
type Handler struct {
	selection.Handler
	Limits progress.Limits
	// Backoff is the time between two attempts, zero for one that grows.
	Backoff time.Duration
	Policy  ErrorPolicy
	Reports []status.Declared
	// Formerly are earlier ids.
	Formerly []string
	// Rule says when a handler of Timer or Cron is called, nil for others.
	Rule   schedule.Rule
	IsCron bool
	// Grace and Delay are for a handler of Daemon.
	Grace, Delay time.Duration
	// Call calls the function for an attempt.
	Call func(ctx context.Context, a *Attempt) error

	// panics are those of the filter.
	panics *panics
}

// ErrorPolicy is what an error of a handler means, unless the error itself says so.
type ErrorPolicy int

// The policies, see package handlers.
const (
	Retry ErrorPolicy = iota
	Fail
	Ignore
)

// after returns the record of the handler after an attempt that returned err.
func (h *Handler) after(record progress.Record, err error, now time.Time) progress.Record {
	if err == nil || h.Policy == Ignore && !request.IsPermanent(err) {
		return record.Succeeded(now)
	}
	after, again := h.retry(err, record.Attempts)
	text := lifecycle.Cut(err.Error(), longestText)
	if !again {
		return record.FailedForGood(text, now)
	}
	if request.IsWaiting(err) {
		record = record.OnlyWaited()
	}
	return h.Limits.Retried(record, text, after, now)
}

// retry returns the time after which the handler is called again because of an error, after a number of earlier
// failures, and false if it has failed for good.
func (h *Handler) retry(err error, failures int) (after time.Duration, again bool) {
	after, asked := request.RetryTime(err)
	switch {
	case request.IsPermanent(err):
		return 0, false
	case asked:
		return after, true
	case h.Policy == Fail && !request.IsWaiting(err):
		return 0, false
	case h.Backoff > 0:
		return h.Backoff, true
	}
	return trigger.Delay(firstBackoff, longestBackoff, failures), true
}
