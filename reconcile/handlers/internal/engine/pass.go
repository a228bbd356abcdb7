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
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
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
	// unreadable is why the type of the handlers can't hold the object, nil if it can, or if nothing has happened.
	unreadable error
	// called: one of them was called in this pass.
	called bool
	// unsure: a filter has panicked, so that the finalizer has to stay.
	unsure bool
	// calls are those that were made in this pass, by the ids of the handlers.
	calls map[string]*made
	// editors are the handlers of the cause that have changed the essence, and editedFirst is one such change.
	editors     []string
	editedFirst string
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

// run calls the handlers that are due, and writes what they have done.
func (p *pass) run(ctx context.Context) error {
	if p.isBlocked() {
		return p.tellUnreadable(ctx)
	}
	p.known.unreadable = ""
	if p.object.GetDeletionTimestamp() == nil && p.needsFinalizer && !p.isHeld(p.object) {
		if err := p.AddFinalizer(ctx, p.object, p.finalizers[0]); err != nil {
			return fmt.Errorf("add the finalizer: %w", err)
		}
	}
	if err := p.prove(ctx); err != nil {
		return err
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
