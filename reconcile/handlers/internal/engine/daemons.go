package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers/internal/daemon"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Daemons keeps the daemons of a kind.
type Daemons = daemon.Keeper[unstructured.Unstructured]

// NewDaemons returns Daemons without any.
func NewDaemons() *Daemons { return daemon.New[unstructured.Unstructured](nil) }

// daemons are the daemons of a kind, with their handlers.
type daemons struct {
	handlers []*Handler
	*daemon.Keeper[unstructured.Unstructured]
}

// of returns the handler with an id.
func (d daemons) of(id string) *Handler {
	for _, h := range d.handlers {
		if h.ID == id {
			return h
		}
	}
	return nil
}

// NeedsLeader implements leader.Undivided.
func (r *Reconciler) NeedsLeader() error {
	if len(r.daemons.handlers) == 0 {
		return nil
	}
	return fmt.Errorf("handlers of %s: the daemon %s runs between reconciles", r.Kind.Kind, r.daemons.handlers[0].ID)
}

// Tally implements standing.Provider.
func (r *Reconciler) Tally() standing.Tally {
	tally := r.Lifecycle.Tally()
	if len(r.daemons.handlers) > 0 {
		count := r.daemons.Count()
		tally.Daemons = map[string]int{"running": count.Running, "stopping": count.Stopping, "abandoned": count.Abandoned}
	}
	return tally
}

// stopDaemons stops the daemons of an object that is gone or rests.
func (r *Reconciler) stopDaemons(ctx context.Context, ref deploy.Ref) {
	if len(r.daemons.handlers) == 0 {
		return
	}
	switch object, err := r.Manager.View().Get(ctx, ref); {
	case err != nil: // another pass follows
	case object == nil:
		r.daemons.Forget(ref)
	default:
		r.daemons.Stop(ref, daemon.Paused)
	}
}

// keepDaemons lets those daemons run that match the object, and stops the others.
func (p *pass) keepDaemons() {
	if len(p.daemons.handlers) == 0 {
		return
	}
	if p.object.GetDeletionTimestamp() != nil {
		p.standing = p.daemons.Stop(p.ref, daemon.Deleting)
		return
	}
	var wanted []daemon.Spec[unstructured.Unstructured]
	about := p.about()
	for _, h := range p.daemons.handlers {
		if selection.Sees(h.Handler, about) {
			wanted = append(wanted, p.daemon(h))
		}
	}
	p.standing = p.daemons.Keep(p.ref, p.object.GetUID(), p.object, wanted)
	p.reportDaemons()
}

// reportDaemons reports the conditions of daemons that have failed or ended since the last pass.
func (p *pass) reportDaemons() {
	for _, one := range p.standing {
		h, text := p.daemons.of(one.ID), ""
		switch {
		case len(h.Reports) == 0 || one.Err == nil && one.Phase != daemon.Done:
			continue
		case one.Err != nil:
			text = one.Err.Error()
		}
		if reported, before := p.known.reported[h.ID]; before && reported == text {
			continue
		}
		for _, declared := range h.Reports {
			p.report(func(c *lifecycle.Conditions) { c.Result(declared.Type, one.Err) })
		}
		p.known.reported = maps.Clone(p.known.reported)
		if p.known.reported == nil {
			p.known.reported = map[string]string{}
		}
		p.known.reported[h.ID] = text
	}
}

// daemon returns what the keeper needs to run a handler for the object of the pass.
func (p *pass) daemon(h *Handler) daemon.Spec[unstructured.Unstructured] {
	r, known := p.Reconciler, p.known
	return daemon.Spec[unstructured.Unstructured]{
		ID: h.ID, Grace: h.Grace, Delay: h.Delay, Limits: h.Limits, Retry: func(err error, failures int) (time.Duration, bool) {
			return h.retry(err, failures-1)
		},
		Run: func(ctx context.Context, handle daemon.Handle[unstructured.Unstructured]) error {
			return r.runDaemon(ctx, known, h, handle)
		},
	}
}

// runDaemon calls a handler of Daemon, and writes what it has set.
func (r *Reconciler) runDaemon(ctx context.Context, known *object, h *Handler, handle daemon.Handle[unstructured.Unstructured]) error {
	object := handle.Latest()
	w := newWork(ctx, r, object, known) // it shares only the memos with the passes over the object
	a := &Attempt{work: &w, Handler: h, latest: w.newest(ctx), record: progress.Record{Attempts: handle.Attempt, Started: w.began}}
	err := failure.Guard(func() error { return h.Call(ctx, a) })
	if errors.Is(context.Cause(ctx), daemon.Lost) {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	if unwritten := a.Flush(last); unwritten != nil {
		err = errors.Join(err, fmt.Errorf("what it has set can't be written: %w", unwritten))
	}
	if err != nil && h.Policy == Ignore && ctx.Err() == nil && !request.IsPermanent(err) {
		w.log.Warn("an error of a handler is ignored", "handler", h.ID, "error", err)
		return nil
	}
	return err
}

// newest returns a function that returns the newest state of the object, never older than the operator's own writes: as
// long as the object is there and ctx hasn't ended.
func (w *work) newest(ctx context.Context) latestOf {
	return func() *unstructured.Unstructured {
		object, err := w.Manager.View().Get(ctx, w.ref)
		if err != nil || object == nil || object.GetUID() != w.object.GetUID() {
			return w.object
		}
		return object
	}
}

// Flush writes what a daemon has set until now. What can't be written is kept.
func (a *Attempt) Flush(ctx context.Context) error {
	w := a.work
	w.collect(a, true)
	if w.outcome.isEmpty() {
		return nil
	}
	err := w.writeAside(ctx)
	if err == nil || failure.Is[*deploy.InvalidError](err) { // what is refused is refused again
		w.outcome = outcome{}
	}
	w.conditions = w.Visit(w.object, w.log)
	for _, report := range w.outcome.reports {
		report(w.conditions)
	}
	return err
}

// tellDaemon logs and reports what has happened to a daemon.
func (r *Reconciler) tellDaemon(report daemon.Report[unstructured.Unstructured]) {
	log := r.LoggerFor(report.Object).With("object", report.Key, "handler", report.ID, "cause", "daemon")
	warn := func(reason, format string, args ...any) {
		r.recordEvent(report.Object, event.Warning, reason, format, args...)
	}
	for _, panicked := range request.Panics(report.Err) {
		log.Error("a handler panicked", "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
	switch report.What {
	case daemon.Ended:
		log.Debug("a handler has succeeded", "after", report.After)
	case daemon.Failed:
		if request.IsWaiting(report.Err) {
			log.Info("a handler waits", "for", report.Err, "retry_in", time.Until(report.Again))
			return
		}
		log.Warn("a handler has failed", "error", report.Err, "retry_in", time.Until(report.Again))
		warn(EventFailed, "%s: %v", report.ID, report.Err)
	case daemon.GivenUp:
		log.Error("a handler has failed for good", "error", report.Err)
		warn(EventGivenUp, "%s: %v", report.ID, report.Err)
	case daemon.Stopped:
		if report.Err != nil {
			log.Warn("a daemon has failed after it was stopped", "why", report.Stop, "error", report.Err)
			return
		}
		log.Debug("a daemon has stopped", "why", report.Stop, "after", report.After)
	case daemon.Abandoned:
		log.Warn("a daemon doesn't return after it was stopped: nothing waits for it any more", "why", report.Stop, "after", report.After)
		warn(EventAbandoned, "%s hasn't returned %s after it was stopped: %s", report.ID, report.After, report.Stop)
	case daemon.Returned:
		log.Debug("a daemon that was abandoned has returned", "after", report.After)
	}
}

// latestOf returns the newest state of the object of a daemon.
type latestOf func() *unstructured.Unstructured
