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

// reconcileAll reconciles the keys of the queue until the context run or work ends.
func (e *Engine) reconcileAll(run, work context.Context, slot *slot) {
	defer slot.stop()
	var taken queue.Taken
	var next queue.Next
	for {
		var ok bool
		taken, ok = e.queue.Take(taken, next, e.dropped)
		if !ok || run.Err() != nil || work.Err() != nil {
			return
		}
		next = e.turn(taken, slot)
	}
}

// turn reconciles an object, unless its kind was released meanwhile.
func (e *Engine) turn(taken queue.Taken, slot *slot) queue.Next {
	c := e.of(taken.Key.Kind)
	if c == nil || !c.enter() {
		return queue.Next{}
	}
	defer c.leave()
	scope := logging.NewScope(c.work)
	slot.begin(scope, taken.Key, c.options.patience())
	defer e.reconciles.Add(1)
	defer slot.end()
	return e.periodic(c, taken.Key, e.process(scope, c, taken))
}

// quietAttempts is the number of quiet errors in a row that aren't logged.
const quietAttempts = 3

// process reconciles an object. The result has the time of the next reconcile without an event, which replaces an
// earlier time.
func (e *Engine) process(ctx context.Context, c *controlled, taken queue.Taken) queue.Next {
	key := taken.Key
	attempt := c.backoff.failures(key)
	e.followers.Begin(key)
	e.echoes.Begin(key)
	result, err := c.reconcile(ctx, request.Request{Key: key, Triggers: taken.Triggers, Attempt: attempt, Waited: taken.Waited})
	if request.IsPermanent(err) {
		result.Wrote = nil // no retry sees what was written
	}
	if others := e.echoes.End(key, result.Wrote, e.followers.Follows(key)); others != 0 {
		e.queue.Add(key, others)
	}
	if err != nil {
		return e.failed(ctx, c, key, attempt, err)
	}
	if attempt > 0 {
		e.recovered(key)
	}
	e.followers.End(key)
	c.backoff.reset(key)
	return queue.Next{After: result.RequeueAfter, Why: request.Periodic}
}

// periodic returns next. For an existing object the time is at most the period, even if next has no time. An object
// that is gone is reconciled again only if its reconcile asked for that.
func (e *Engine) periodic(c *controlled, key deploy.Ref, next queue.Next) queue.Next {
	period := c.options.period
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
func (e *Engine) failed(ctx context.Context, c *controlled, key deploy.Ref, attempt int, err error) queue.Next {
	log := logging.Scoped(ctx, e.options.logger).With("object", key)
	if panicked, ok := err.(*dag.PanicError); ok { // a reconciler that wraps a panic has logged it
		log.Error("reconcile panicked", "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
	switch {
	case c.isReleased():
		log.Debug("reconcile was cancelled: the kind is released", "error", err)
		return queue.Next{}
	case ctx.Err() != nil:
		log.Warn("reconcile was cancelled by the shutdown", "error", err)
		return queue.Next{Unchanged: true}
	case request.IsPermanent(err):
		log.Error("reconcile failed, waiting for a change", "error", err)
		c.backoff.reset(key)
		return queue.Next{}
	case request.Resolve(err).Advanced:
		c.backoff.reset(key)
	}
	delay := c.backoff.next(key)
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

// reconcile calls the reconciler. A panic is an error of that object.
func (c *controlled) reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.timeout, c.overtime)
	defer cancel()
	return failure.Value(func() (request.Result, error) { return c.called.Reconcile(ctx, req) })
}
