package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// healthy is the time after which a run counts as a success, whatever its end: the failures before it don't count.
const healthy = 10 * time.Minute

// errExited is the error of a daemon that has ended its goroutine.
var errExited = errors.New("the daemon has called runtime.Goexit: return from the function instead")

// run is one call of a daemon, with its goroutine.
type run[T any] struct {
	object *object[T]
	// latest is that of the object for which the daemon was started: the object may have been replaced.
	latest *atomic.Pointer[T]
	daemon Spec[T]
	cancel context.CancelCauseFunc
	began  time.Time
	// failures is the number of failures and waits before the run.
	failures int
	// stop is empty until the daemon is stopped. until is the end of its grace then.
	stop      Stop
	stopped   time.Time
	until     time.Time
	abandoned bool
	// timer stops the daemon when its time is over, and then ends its grace. It may be nil.
	timer *time.Timer
}

// start starts the goroutine of a daemon.
func (k *Keeper[T]) start(o *object[T], d *daemon[T], spec Spec[T], now time.Time) {
	// The Keeper alone cancels daemons, so that each has one cause.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(k.life.ctx))
	d.record = d.record.Begin("", now)
	r := &run[T]{object: o, latest: o.latest, daemon: spec, cancel: cancel, began: now, failures: d.record.Attempts}
	d.run = r
	if deadline, limited := spec.Limits.Deadline(d.record); limited {
		r.timer = time.AfterFunc(deadline.Sub(now), func() { k.overdue(r) })
	}
	k.count.Running++
	k.held++
	go func() {
		err := errExited
		defer func() { k.finished(r, r.result(err, ctx.Err() != nil)) }()
		err = failure.Guard(func() error { return spec.Run(ctx, Handle[T]{latest: r.latest, Attempt: r.failures}) })
	}()
}

// stop cancels a daemon, unless that was done before.
func (k *Keeper[T]) stop(r *run[T], why Stop) {
	if r.stop != "" {
		return
	}
	k.count.Running--
	k.count.Stopping++
	r.stop, r.stopped = why, time.Now()
	r.cancel(why)
	k.bound(r, r.stopped.Add(r.daemon.grace()))
}

// bound lets the grace of a daemon that was stopped end at a time, unless it ends sooner.
func (k *Keeper[T]) bound(r *run[T], until time.Time) {
	if r.abandoned || !r.until.IsZero() && !until.Before(r.until) {
		return
	}
	r.endTimer()
	r.until = until
	r.timer = time.AfterFunc(time.Until(until), func() { k.abandon(r) })
}

func (r *run[T]) endTimer() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// present returns the daemon of a run, nil if its goroutine has returned.
func (r *run[T]) present() *daemon[T] {
	if d := r.object.daemons[r.daemon.ID]; d != nil && d.run == r {
		return d
	}
	return nil
}

// overdue stops a daemon whose time is over.
func (k *Keeper[T]) overdue(r *run[T]) {
	k.mu.Lock()
	defer k.unlock()
	if r.present() != nil {
		k.stop(r, Overdue)
	}
}

// abandon ends the wait for a daemon that was stopped.
func (k *Keeper[T]) abandon(r *run[T]) {
	k.mu.Lock()
	defer k.unlock()
	d := r.present()
	if d == nil || r.abandoned {
		return
	}
	r.abandoned = true
	k.count.Stopping--
	k.count.Abandoned++
	k.released++
	switch {
	case r.outdated():
	case r.stop == Overdue:
		d.record = overdue(d.record, r.daemon.Limits, nil, time.Now())
		d.err = errors.New(d.record.Message)
	default:
		d.record, d.err = progress.Record{}, nil
	}
	k.tell(r, Report[T]{What: Abandoned, After: time.Since(r.stopped)})
}

// outdated reports whether the object of a run was replaced or forgotten, so that its result doesn't matter.
func (r *run[T]) outdated() bool { return r.object.forgotten || r.object.latest != r.latest }

// tell keeps a report about a run for unlock, and lets it bring the object to reconcile.
func (k *Keeper[T]) tell(r *run[T], report Report[T]) {
	report.Key, report.ID, report.Object, report.Stop = r.object.key, r.daemon.ID, r.latest.Load(), r.stop
	k.reports = append(k.reports, report)
	if !r.object.forgotten {
		k.brings = append(k.brings, r.object.key)
	}
}
