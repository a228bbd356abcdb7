package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isBlocked reports whether the object has to be left alone, because the type of the handlers can't hold it: a handler
// is about it or, for a deletion, is to be called.
func (p *pass) isBlocked() bool {
	switch {
	case p.unreadable == nil:
		return false
	case p.object.GetDeletionTimestamp() != nil:
		return !p.record.Cycle.Done()
	}
	about := p.about()
	return slices.ContainsFunc(p.handlers, func(h *Handler) bool {
		return h.On&^(selection.Seen|selection.Reported) != 0 && selection.Sees(h.Handler, about)
	})
}

// tellUnreadable reports that handlers can't be called: in the conditions of those that are due and, once for each
// error, in an event. The record and the finalizer stay as they are, and so do the daemons, unless the object is being
// deleted.
func (p *pass) tellUnreadable(ctx context.Context) error {
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
	p.known.digest = "" // it isn't settled any more, also when the change is taken back
	for _, h := range p.selected {
		for _, declared := range h.Reports {
			if !p.record.Cycle[h.ID].HasEnded() {
				p.conditions.Set(declared.Type, metav1.ConditionFalse, EventUnreadable, err.Error())
			}
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

// isCorrected reports whether a condition of the handler says that the object can't be read, which is over. The handler
// is called for the object then, even if the object is as it was handled before.
func (p *pass) isCorrected(h *Handler) bool {
	return p.unreadable == nil && slices.ContainsFunc(h.Reports, p.saysUnreadable)
}

// saysUnreadable reports whether a condition says that the object can't be read.
func (p *pass) saysUnreadable(declared status.Declared) bool {
	present, _ := status.Conditions(p.object).Get(declared.Type)
	return present.Reason == EventUnreadable
}

// dropCorrected makes the conditions Unknown that say that the object can't be read, if that is over and no handler is
// called that reports them: the object may have become one that their handlers aren't about.
func (p *pass) dropCorrected() {
	if p.settled || p.unreadable != nil || p.object.GetDeletionTimestamp() != nil {
		return
	}
	for _, h := range p.handlers {
		for _, declared := range h.Reports {
			isReported := slices.ContainsFunc(p.selected, func(other *Handler) bool {
				return slices.ContainsFunc(other.Reports, func(d status.Declared) bool { return d.Type == declared.Type })
			})
			if !isReported && p.saysUnreadable(declared) {
				p.report(func(c *lifecycle.Conditions) {
					c.Set(declared.Type, metav1.ConditionUnknown, "NotReported", "no handler is called for the object that reports this condition")
				})
			}
		}
	}
}
