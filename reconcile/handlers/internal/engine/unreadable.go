package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
)

// blocked returns the handlers that can't be called because the type of the handlers can't hold the object: those that
// are about it, and for a deletion those that are still to be called.
func (p *pass) blocked() (blocked []*Handler) {
	if p.unreadable == nil {
		return nil
	}
	about := p.about()
	for _, h := range p.handlers {
		switch {
		case h.On&^(selection.Seen|selection.Reported) == 0 || !selection.Sees(h.Handler, about):
		case p.object.GetDeletionTimestamp() == nil:
			blocked = append(blocked, h)
		default:
			if record, called := p.record.Cycle[h.ID]; called && !record.HasEnded() {
				blocked = append(blocked, h)
			}
		}
	}
	return blocked
}

// tellUnreadable reports that handlers can't be called: in their conditions and, once for each error, in an event. The
// record and the finalizer stay as they are, and so do the daemons, unless the object is being deleted.
func (p *pass) tellUnreadable(ctx context.Context, blocked []*Handler) error {
	advice := "no handler is called for it: correct the object, or the type of the handlers"
	if p.object.GetDeletionTimestamp() != nil {
		p.keepDaemons()
		advice = "no handler is called for its deletion, so its finalizer stays: correct the object, or remove the finalizer by the operator's command release"
	}
	err := request.Permanent(fmt.Errorf("%w: %s", p.unreadable, advice))
	if text := err.Error(); p.known.unreadable != text {
		p.known.unreadable = text
		p.warn(EventUnreadable, "%v", err)
	}
	for _, h := range blocked {
		for _, declared := range h.Reports {
			p.conditions.Result(declared.Type, err)
		}
	}
	_, unwritten := p.Report(ctx, p.object, p.log, p.conditions, true, func(present map[string]any) (map[string]any, bool, error) {
		return present, false, nil
	})
	if unwritten != nil {
		return errors.Join(err, lifecycle.Unwritten(p.log, unwritten))
	}
	return err
}
