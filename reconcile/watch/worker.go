package watch

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/queue"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
)

// work reconciles the keys of the queue until the context run or work ends.
func (e *Engine) work(run, work context.Context, slot *slot) {
	defer slot.stop()
	var taken queue.Taken
	var next queue.Next
	for {
		var ok bool
		taken, ok = e.queue.Take(taken, next, e.dropped)
		if !ok || run.Err() != nil || work.Err() != nil {
			return
		}
		scope := logging.NewScope(work)
		slot.begin(scope, taken.Key)
		next = e.periodic(taken.Key, e.process(scope, taken))
		slot.end()
		e.reconciles.Add(1)
	}
}

// quietAttempts is the number of quiet errors in a row that aren't logged.
const quietAttempts = 3

// process reconciles an object. The result has the time of the next reconcile without an event, which replaces an
// earlier time.
func (e *Engine) process(ctx context.Context, taken queue.Taken) queue.Next {
	key := taken.Key
	attempt := e.backoff.failures(key)
	e.followers.Begin(key)
	e.echoes.Begin(key)
	result, err := e.reconcile(ctx, request.Request{Key: key, Triggers: taken.Triggers, Attempt: attempt, Waited: taken.Waited})
	if err != nil {
		result.Wrote = nil
	}
	if e.echoes.End(key, result.Wrote) {
		e.queue.Add(key, request.Child)
	}
	if err != nil {
		return e.failed(ctx, key, attempt, err)
	}
	if attempt > 0 {
		e.recovered(key)
	}
	e.followers.End(key)
	e.backoff.reset(key)
	return queue.Next{After: result.RequeueAfter, Why: request.Periodic}
}

// periodic returns next. For an existing object the time is at most the period, even if next has no time. An object
// that is gone is reconciled again only if its reconcile asked for that.
func (e *Engine) periodic(key deploy.Ref, next queue.Next) queue.Next {
	period := e.options.period
	if period == 0 || next.Unchanged || !e.owners.Known(key) {
		return next
	}
	period -= rand.N(period/10 + 1)
	if next.After > 0 && next.After <= period {
		return next
	}
	return queue.Next{After: period, Why: request.Periodic}
}

// recovered retries all objects for which the cluster didn't answer, when it has answered for one of them.
func (e *Engine) recovered(key deploy.Ref) {
	over, waiting := e.outage.succeeds(key)
	if !over {
		return
	}
	e.options.logger.Info("the cluster answers again", "object", key, "waiting", len(waiting))
	e.bring(request.Retry, waiting)
}

// failed logs that a reconcile failed, and returns the time of its retry.
func (e *Engine) failed(ctx context.Context, key deploy.Ref, attempt int, err error) queue.Next {
	log := logging.Scoped(ctx, e.options.logger).With("object", key)
	if panicked, ok := err.(*dag.PanicError); ok { // a reconciler that wraps a panic has logged it
		log.Error("reconcile panicked", "value", panicked.Value, "stack", string(panicked.Stack))
	}
	switch {
	case ctx.Err() != nil:
		log.Warn("reconcile was cancelled by the shutdown", "error", err)
		return queue.Next{Unchanged: true}
	case request.IsPermanent(err):
		log.Error("reconcile failed, waiting for a change", "error", err)
		e.backoff.reset(key)
		return queue.Next{}
	case request.Resolve(err).Advanced:
		e.backoff.reset(key)
	}
	delay := e.backoff.next(key)
	after, timed := request.RetryTime(err)
	if timed {
		delay = after
	}
	level := slog.LevelWarn
	if request.Resolve(err).Quiet && attempt < quietAttempts {
		level = slog.LevelDebug
	} else if failure.Is[*deploy.UnavailableError](err) {
		loud, suppressed, probe := e.outage.fails(key, timed)
		if log = log.With("more_since_last_logged", suppressed); !loud {
			level = slog.LevelDebug
		}
		if probe {
			delay = min(delay, probeEvery)
		}
	}
	log.Log(ctx, level, "reconcile failed", "error", err, "attempt", attempt+1, "retry_in", delay)
	return queue.Next{After: delay, Why: request.Retry}
}

// reconcile calls the reconciler of the key's kind. A panic is an error of that object.
func (e *Engine) reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.options.timeout, e.overtime)
	defer cancel()
	return failure.Value(func() (request.Result, error) {
		return e.controlled[req.Key.Kind.GroupKind()].called.Reconcile(ctx, req)
	})
}
