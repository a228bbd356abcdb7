package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/request"
)

// result is how a run has ended.
type result struct {
	err error
	// stopped: the context had ended before.
	stopped bool
	// failures is the number of failures in a row, with this one and with runs that have only waited. after and again
	// are what Retry returned.
	failures int
	after    time.Duration
	again    bool
}

// result asks what follows an error. The lock isn't held.
func (r *run[T]) result(err error, stopped bool) result {
	if err == nil || stopped {
		return result{err: err, stopped: stopped}
	}
	is := result{err: err, failures: r.failures + 1}
	if time.Since(r.began) >= healthy {
		is.failures = 1
	}
	if r.daemon.Retry != nil {
		is.after, is.again = r.daemon.Retry(err, is.failures)
	}
	return is
}

// finished notes that the goroutine of a daemon returns.
func (k *Keeper[T]) finished(r *run[T], is result) {
	r.cancel(nil) // for goroutines that the daemon has left running
	k.mu.Lock()
	defer k.unlock()
	d := r.present()
	d.run = nil
	r.endTimer()
	switch {
	case r.abandoned:
		k.count.Abandoned--
		k.tell(r, Report[T]{What: Returned, Err: is.ownError(), After: time.Since(r.stopped)})
		k.tidy(r.object)
		return
	case r.stop != "":
		k.count.Stopping--
	default:
		k.count.Running--
	}
	k.released++
	k.tell(r, k.outcome(d, r, is, time.Now()))
	k.tidy(r.object)
}

// outcome returns the report about a daemon that has returned in time, and updates its record.
func (k *Keeper[T]) outcome(d *daemon[T], r *run[T], is result, now time.Time) Report[T] {
	report, record := Report[T]{What: Stopped, Err: is.ownError(), After: now.Sub(r.began)}, d.record
	switch {
	case !is.stopped && is.err == nil: // by itself, perhaps at the moment of a stop
		report.What, record = Ended, record.Succeeded(now)
	case r.stop == Overdue:
		report.What, record = GivenUp, overdue(record, r.daemon.Limits, is.ownError(), now)
	case r.stop != "":
		report.After, record = now.Sub(r.stopped), progress.Record{}
	default:
		if record.Attempts = is.failures - 1; record.Attempts == 0 {
			record.Waited = 0
		}
		if request.IsWaiting(is.err) {
			record = record.OnlyWaited()
		}
		if is.again {
			record = r.daemon.Limits.Retried(record, is.err.Error(), is.after, now)
		} else {
			record = record.FailedForGood(is.err.Error(), now)
		}
		if report.What, report.Again = Failed, record.Due; record.HasEnded() {
			report.What, report.Again = GivenUp, time.Time{}
		}
	}
	if report.What == GivenUp {
		report.Err = &givenUpError{text: record.Message, err: report.Err}
	}
	if !r.outdated() {
		d.record, d.err = record, report.Err
	}
	return report
}

// overdue returns the record of a daemon whose time is over. err is its own error, which may be nil.
func overdue(record progress.Record, limits progress.Limits, err error, now time.Time) progress.Record {
	message := fmt.Sprintf("given up after %s", limits.Within)
	if err != nil {
		message += ": " + err.Error()
	}
	return record.FailedForGood(message, now)
}

// ownError returns the error of a daemon, nil if it only says that its context has ended.
func (r result) ownError() error {
	if r.stopped && errors.Is(r.err, context.Canceled) {
		return nil
	}
	return r.err
}

// givenUpError is the last error of a daemon with the reason why it isn't run again.
type givenUpError struct {
	text string
	err  error
}

// Error returns the reason and the text of the last error.
func (e *givenUpError) Error() string { return e.text }

// Unwrap returns the last error, nil if there was none.
func (e *givenUpError) Unwrap() error { return e.err }
