package engine

import (
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
)

// decide finds out why handlers are called, and which.
func (p *pass) decide() {
	isDeleting := p.object.GetDeletionTimestamp() != nil
	state := cause.State{
		Deleting: isDeleting, Finalizer: p.isHeld(p.object), First: !p.known.resumed,
		Handled: p.settled || p.record.Handled(),
		Changed: !p.settled && (p.record.Digest != p.digest || p.isBack()),
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
	p.dropCorrected()
}

// isFirst reports whether a handler for Resume wasn't called for the object in this process.
func (p *pass) isFirst(h *Handler) bool { return !p.known.resumed && !p.known.resumes[h.ID] }

// isBack reports whether an object is as it was handled last, and handlers have to be called for that state again: they
// have acted on a change that was taken back, or have reported it. It lasts until they have ended.
func (p *pass) isBack() bool {
	if p.record.Cycle.ActedOnOther(p.digest) || p.record.Cycle.Updates(p.digest) {
		return true
	}
	about := p.about()
	about.Reason = cause.Update
	return slices.ContainsFunc(p.handlers, func(h *Handler) bool {
		return h.On&(selection.Update|selection.Field) != 0 && p.isCorrected(h) && selection.Sees(h.Handler, about)
	})
}

// isReturn reports whether a handler has acted on a change that was taken back, or has reported it: it is called for
// the state that it was before.
func (p *pass) isReturn(h *Handler) bool {
	if p.reason != cause.Update || h.On&(selection.Update|selection.Field) == 0 {
		return false
	}
	isBack := p.record.Digest == p.digest && p.record.Cycle.UpdatesIn(h.ID, p.digest)
	return isBack || p.record.Cycle.ActedIn(h.ID, p.digest) || p.isCorrected(h)
}

// about returns the object for the selection of handlers.
func (p *pass) about() selection.Object {
	about := selection.Object{
		Body: p.object.Object, New: p.essence, Old: p.record.Essence, Reason: p.reason, First: !p.known.resumed, Unreadable: p.unreadable != nil,
	}
	if len(p.record.Fields) > 0 {
		about.Changed = func(path []string) (changed, known bool) { return p.record.Changed(p.essence, path) }
	}
	return about
}

// decideOn decides about a handler. If its filter panics, the handler isn't called for the object. A finalizer that is
// there stays then, since nobody knows whether the handler needs it, and the object is looked at again later.
func (p *pass) decideOn(h *Handler, about selection.Object) selection.Decision {
	before := h.panics.count.Load()
	decision := selection.Decide(h.Handler, about)
	if h.panics.count.Load() == before {
		return decision
	}
	if !h.panics.logged.Swap(true) {
		p.log.Error("a filter of a handler panicked: the handler isn't called for the object", "handler", h.ID, "error", *h.panics.last.Load())
	}
	if h.On&selection.Daemon != 0 || h.On&selection.Delete != 0 && !h.Optional {
		p.unsure = p.isHeld(p.object)
		decision.NeedsFinalizer = p.unsure
	}
	return decision
}
