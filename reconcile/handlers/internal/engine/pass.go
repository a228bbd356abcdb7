package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/daemon"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pass is one pass over an object: it finds out why handlers are called, calls them, and writes what they have done.
type pass struct {
	work
	// essence is that of the object, and digest identifies it.
	essence map[string]any
	digest  string
	// settled: nothing has happened since the last pass, which left nothing to do.
	settled bool
	reason  cause.Reason
	// record is what is stored on the object; its cycle is that of this pass.
	record record.Record
	// selected are the handlers that are called for the reason, in the order of registration.
	selected []*Handler
	// needsFinalizer: some handler needs it. records: a record is kept, because handlers are about the object for which
	// that is needed.
	needsFinalizer, records bool
	// called: one of them was called in this pass.
	called bool
	// unsure: a filter has panicked, so that the finalizer has to stay.
	unsure bool
	// refused are the errors of handlers whose updates the cluster has refused, and ran are the timers and crons that
	// were called.
	refused map[string]error
	ran     map[string]timedRun
	// due is when the next timer or cron is due, zero for never.
	due time.Time
	// standing is how the daemons stand.
	standing daemon.Standing
}

// pass reads what is known of the object, and decides why handlers are called.
func (r *Reconciler) pass(ctx context.Context, object *unstructured.Unstructured) (*pass, error) {
	p := &pass{work: newWork(ctx, r, object, r.objects.of(deploy.RefOf(object), object.GetUID()))}
	if err := p.read(); err != nil {
		return p, err
	}
	p.decide()
	return p, nil
}

// read reads the record, unless nothing has happened since the last pass.
func (p *pass) read() (err error) {
	isDeleting := p.object.GetDeletionTimestamp() != nil
	version := p.object.GetResourceVersion()
	if version != "" && version == p.known.version && p.known.unwritten == nil && !isDeleting {
		p.settled, p.digest = true, p.known.digest
		return nil
	}
	p.essence = p.rules.Of(p.object.Object)
	if p.digest, err = record.Digest(p.essence); err != nil {
		return fmt.Errorf("%s: %w", p.ref, err)
	}
	text := p.object.GetAnnotations()[p.key]
	if !isDeleting && p.known.unwritten == nil && p.known.isSettled(text, p.digest) && p.known.record == nil {
		p.settled = true
		return nil
	}
	if err := p.readRecord(text); err != nil && !isDeleting {
		return request.Permanent(fmt.Errorf("%s: annotation %s: %w: remove the annotation to have the object handled as a new one", p.ref, p.key, err))
	} else if err != nil {
		p.log.Warn("the record of handlers can't be read: the deletion goes on without it", "annotation", p.key, "error", err)
	}
	if p.known.unwritten != nil {
		p.outcome = p.known.unwritten.outcome.clone()
	}
	for _, report := range p.outcome.reports {
		report(p.conditions)
	}
	return nil
}

// readRecord reads the record: what an earlier pass couldn't write, what is on the object, or what the process
// remembers.
func (p *pass) readRecord(text string) (err error) {
	switch {
	case p.known.unwritten != nil && p.known.unwritten.base == text:
		p.record = p.known.unwritten.record
	case !p.config.Stateless:
		p.record, err = record.Of(text, p.object.GetUID())
		if !p.known.seen { // handlers of Resume are called once in each process
			p.record.Cycle = p.record.Cycle.Without(cause.Resume)
		}
	case p.known.record != nil:
		p.record = *p.known.record
	case p.known.listed:
		p.record = record.Record{Digest: p.digest, Essence: p.essence} // it was there when the process started
	}
	if err == nil && !p.record.Handled() && len(p.record.Cycle) == 0 {
		p.takeOver()
	}
	p.rename()
	p.known.seen = true
	return err
}

// takeOver makes a record of what a kopf operator has recorded.
func (p *pass) takeOver() {
	if found, ok := p.config.Kopf.essence(p.object.Object); ok {
		found = p.rules.Clean(found)
		if digest, err := record.Digest(found); err == nil {
			p.record.Digest, p.record.Essence = digest, found
		}
	}
}

// rename moves what is recorded of handlers with former ids.
func (p *pass) rename() {
	for _, h := range p.handlers {
		for _, id := range h.Formerly {
			p.record = p.record.Renamed(id, h.ID)
		}
	}
}

// decide finds out why handlers are called, and which.
func (p *pass) decide() {
	isDeleting := p.object.GetDeletionTimestamp() != nil
	state := cause.State{
		Deleting: isDeleting, Finalizer: p.isHeld(p.object), First: !p.known.resumed,
		Handled: p.settled || p.record.Handled(),
		Changed: !p.settled && (p.record.Digest != p.digest || p.record.Cycle.ActedOnOther(p.digest)),
	}
	p.reason = cause.Of(state)
	p.noteChange()
	about := p.about()
	for _, h := range p.handlers {
		if h.On&(selection.Recorded|selection.Delete|selection.Daemon) == 0 {
			continue
		}
		about.First = p.isFirst(h)
		decision := p.decideOn(h, about)
		p.needsFinalizer = p.needsFinalizer || decision.NeedsFinalizer
		p.records = p.records || h.On&selection.Recorded != 0 && decision.Sees
		if !p.settled && h.On&(selection.Recorded|selection.Delete) != 0 && (decision.Called || decision.Sees && p.isReturn(h)) {
			p.selected = append(p.selected, h)
		}
	}
	var ids []string
	for _, h := range p.selected {
		ids = append(ids, h.ID)
	}
	p.record.UID, p.record.Cycle = p.object.GetUID(), p.record.Cycle.For(p.reason, p.digest, ids)
	p.records = p.records || len(ids) > 0
}

// isFirst reports whether a handler for Resume wasn't called for the object in this process.
func (p *pass) isFirst(h *Handler) bool { return !p.known.resumed && !p.known.resumes[h.ID] }

// isReturn reports whether a handler has acted on a change that was taken back: it is called for the state that it was
// before.
func (p *pass) isReturn(h *Handler) bool {
	return p.reason == cause.Update && h.On&(selection.Update|selection.Field) != 0 && p.record.Cycle.ActedIn(h.ID, p.digest)
}

// about returns the object for the selection of handlers.
func (p *pass) about() selection.Object {
	return selection.Object{
		Body: p.object.Object, New: p.essence, Old: p.record.Essence, Reason: p.reason, First: !p.known.resumed,
	}
}

// run calls the handlers that are due, and writes what they have done.
func (p *pass) run(ctx context.Context) error {
	if p.object.GetDeletionTimestamp() == nil && p.needsFinalizer && !p.isHeld(p.object) {
		if err := p.AddFinalizer(ctx, p.object, p.finalizers[0]); err != nil {
			return fmt.Errorf("add the finalizer: %w", err)
		}
	}
	p.keepDaemons()
	if p.reason == cause.Free {
		return nil
	}
	ready := p.record.Cycle.Ready(p.began)
	for _, h := range p.selected {
		if !slices.Contains(ready, h.ID) || ctx.Err() != nil {
			continue
		}
		if err := p.call(ctx, h); err != nil {
			return err
		}
	}
	if err := p.callTimed(ctx); err != nil {
		return err
	}
	return p.end(ctx)
}

// next returns the time until the next pass without an event, zero for none.
func (p *pass) next() (after time.Duration) {
	if due, waits := p.record.Cycle.Next(); waits {
		after = soon(due.Sub(p.Now()))
	}
	if !p.due.IsZero() {
		after = lifecycle.Sooner(after, soon(p.due.Sub(p.Now())))
	}
	if p.unsure {
		after = lifecycle.Sooner(after, recheck)
	}
	if restart, later := p.standing.Due(); later {
		after = lifecycle.Sooner(after, soon(time.Until(restart))) // daemons know no other clock
	}
	return after
}

// soon returns the time of a pass that may be late.
func soon(d time.Duration) time.Duration { return max(d, time.Millisecond) }

// isComplete reports whether nothing is left to do.
func (p *pass) isComplete() bool {
	return p.record.Cycle.Done() && (p.reason != cause.Delete || !p.standing.Active())
}
