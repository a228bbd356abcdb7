package handlers

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

// handler is a registered function.
type handler struct {
	selection.Handler
	limits   progress.Limits
	backoff  time.Duration
	policy   ErrorPolicy
	reports  []status.Declared
	formerly []string
	// rule says when a handler of Timer or Cron is called, nil for others.
	rule   schedule.Rule
	isCron bool
	// panics are those of the filter.
	panics panics
	// grace and delay are for a handler of Daemon.
	grace, delay time.Duration
	// call calls the function with a Request that it makes from the attempt.
	call func(ctx context.Context, a *attempt) error
}

func newHandler(s *settings, call func(ctx context.Context, a *attempt) error) *handler {
	h := &handler{
		Handler: s.Handler, limits: progress.Limits{Attempts: s.attempts.max, Within: s.within.d}, backoff: s.backoff.d,
		policy: s.policy.value, reports: s.reports, formerly: s.formerly, rule: s.rule(), isCron: s.cron != nil, call: call,
		grace: s.grace, delay: s.delay,
	}
	h.Filter = h.panics.guard(h.Filter)
	return h
}

// after returns the record of the handler after an attempt that returned err.
func (h *handler) after(record progress.Record, err error, now time.Time) progress.Record {
	if err == nil || h.policy == Ignore && !request.IsPermanent(err) {
		return record.Succeeded(now)
	}
	after, again := h.retry(err, record.Attempts)
	text := lifecycle.Cut(err.Error(), longestText)
	if !again {
		return record.FailedForGood(text, now)
	}
	return h.limits.Retried(record, text, after, now)
}

// retry returns the time after which the handler is called again because of an error, after a number of earlier
// failures, and false if it has failed for good.
func (h *handler) retry(err error, failures int) (after time.Duration, again bool) {
	after, asked := request.RetryTime(err)
	switch {
	case request.IsPermanent(err):
		return 0, false
	case asked:
		return after, true
	case h.policy == Fail && !request.IsWaiting(err):
		return 0, false
	case h.backoff > 0:
		return h.backoff, true
	}
	return trigger.Delay(firstBackoff, longestBackoff, failures), true
}
