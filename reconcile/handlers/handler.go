package handlers

import (
	"context"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// firstBackoff and longestBackoff bound the time between two attempts, unless Backoff sets it.
const firstBackoff, longestBackoff = time.Second, time.Minute

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
	// call calls the function with a Request that it makes from the attempt.
	call func(ctx context.Context, a *attempt) error
}

func newHandler(s *settings, call func(ctx context.Context, a *attempt) error) *handler {
	return &handler{
		Handler: s.Handler, limits: progress.Limits{Attempts: s.attempts.max, Within: s.within.d}, backoff: s.backoff.d,
		policy: s.policy, reports: s.reports, formerly: s.formerly, rule: s.rule(), isCron: s.cron != nil, call: call,
	}
}

// after returns the record of the handler after an attempt that returned err.
func (h *handler) after(record progress.Record, err error, now time.Time) progress.Record {
	switch {
	case err == nil, h.policy == Ignore && !request.IsPermanent(err):
		return record.Succeeded(now)
	case request.IsPermanent(err):
		return record.FailedForGood(err.Error(), now)
	}
	after, asked := request.RetryTime(err)
	switch {
	case !asked && h.policy == Fail && !request.IsWaiting(err):
		return record.FailedForGood(err.Error(), now)
	case !asked && h.backoff > 0:
		after = h.backoff
	case !asked:
		after = trigger.Delay(firstBackoff, longestBackoff, record.Attempts)
	}
	return h.limits.Retried(record, err.Error(), after, now)
}
