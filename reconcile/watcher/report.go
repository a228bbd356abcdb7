package watcher

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// The reasons of events about watchers.
const (
	// EventFailed is the reason of a warning: a call of a watcher has failed, and is repeated.
	EventFailed = "WatcherFailed"
	// EventGivenUp is the reason of a warning: a call of a watcher has failed, and isn't repeated until something
	// happens.
	EventGivenUp = "WatcherGivenUp"
)

// Failure is one failure of a watcher.
type Failure struct {
	// Watcher is the name of the watcher, Action what its function was called for, and Object the object.
	Watcher string
	Action  Action
	Object  deploy.Ref
	// Err is the error of the call.
	Err error
	// Attempt is the number of failures in a row, this one included.
	Attempt int
	// RetryIn is the time until the next try.
	RetryIn time.Duration
	// GivenUp: there is no next try, until an event of the object, a resync, a forced reconcile or a restart.
	GivenUp bool
}

// failures counts how often watchers were given up, for metrics. The zero value is empty. It is safe for concurrent
// use.
type failures struct {
	mu sync.Mutex
	// givenUp counts by watcher how often it was given up.
	givenUp map[string]int
}

func (f *failures) add(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.givenUp == nil {
		f.givenUp = map[string]int{}
	}
	f.givenUp[name]++
}

// counts returns the count of each of the watchers, also if it is zero.
func (f *failures) counts(members []*member) map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]int{}
	for _, m := range members {
		counts[m.name] = f.givenUp[m.name]
	}
	return counts
}

// lastWord bounds OnError after a reconcile that took too long.
const lastWord = 10 * time.Second

// log returns the logger of the object and the watcher.
func (a *attempt) log(ctx context.Context) *slog.Logger {
	return logging.Scoped(ctx, a.LoggerFor(a.call.Object)).With("object", a.ref, "watcher", a.member.name, "action", string(a.action))
}

// report logs and reports an error. Waiting isn't a failure.
func (a *attempt) report(ctx context.Context, out work.Outcome, v work.Verdict) {
	err, log := out.Err, a.log(ctx)
	for _, panicked := range request.Panics(err) {
		log.Error("a watcher panicked", "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
	f := Failure{
		Watcher: a.member.name, Action: a.action, Object: a.ref, Err: err, Attempt: v.Failures, RetryIn: v.After, GivenUp: v.GivenUp || v.IsStale,
	}
	switch {
	case out.IsWaiting && v.IsStale:
		return
	case out.IsWaiting:
		log.Info("a watcher waits", "for", err, "retry_in", f.RetryIn)
		return
	case v.IsStale:
		log.Warn("a call of a watcher has failed, and its object is gone", "error", err)
	case v.GivenUp:
		log.Error("a watcher was given up", "error", err, "attempts", f.Attempt)
		a.failures.add(f.Watcher)
		a.warn(EventGivenUp, err)
	default:
		log.Warn("a watcher has failed", "error", err, "attempts", f.Attempt, "retry_in", f.RetryIn)
		a.warn(EventFailed, err)
	}
	if a.settings.onError == nil {
		return
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
	}
	if err := failure.Guard(func() error { a.settings.onError(ctx, f); return nil }); err != nil {
		log.Error("the function of OnError panicked", "error", err)
	}
}

// warn records a warning about the object.
func (a *attempt) warn(reason string, err error) {
	a.recordEvent(event.Warning, reason, "%s: %v", a.member.name, err)
}

func (a *attempt) recordEvent(eventType event.Type, reason, text string, args ...any) {
	if a.env.Events != nil {
		a.env.Events.Record(event.Event{Regarding: event.Of(a.call.Object), Type: eventType, Reason: reason, Note: fmt.Sprintf(text, args...)})
	}
}
