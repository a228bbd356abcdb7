package engine

import (
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edits are the digests of the essences that own edits have led through since the last pass, in this order, at most
// mostEdits of them. The zero value is none.
type edits []string

const mostEdits = 100

// add adds an edit that is about to be written. What others have changed before it isn't own.
func (e *edits) add(from, to string) {
	if !slices.Contains(*e, from) {
		*e = edits{from}
	}
	if *e = append(*e, to); len(*e) > mostEdits {
		*e = slices.Clone((*e)[1:])
	}
}

// stored replaces the last essence by the form in which the cluster has stored it.
func (e edits) stored(sent, stored string) {
	if last := len(e) - 1; last >= 0 && e[last] == sent {
		e[last] = stored
	}
}

// lead reports whether own edits alone have led from one essence to another, and forgets those before that.
func (e *edits) lead(from, to string) bool {
	start := slices.Index(*e, from)
	if start < 0 {
		return false
	}
	length := slices.Index((*e)[start:], to)
	if length < 0 {
		return false
	}
	*e = slices.Clone((*e)[start+length:])
	return true
}

// edited is what handlers have changed in the essence by the last writes.
type edited struct{ status, rest []diff.Item }

// noteEdit notes an own change of the essence, which doesn't reset the idle time of timers, and returns what is
// different. The change is about to be written: the pass that it brings may come before the write has returned.
func (w *work) noteEdit(before, after map[string]any) ([]diff.Item, error) {
	w.sent = ""
	changes := diff.Of(before, after)
	if len(changes) == 0 || len(w.timed.rules) == 0 {
		return changes, nil
	}
	from, err := record.Digest(before)
	if err != nil {
		return nil, err
	}
	if w.sent, err = record.Digest(after); err != nil {
		return nil, err
	}
	w.known.shared.Lock()
	defer w.known.shared.Unlock()
	w.known.edits.add(from, w.sent)
	return changes, nil
}

// noteStored notes how the cluster has stored an own change, nil if the object is gone.
func (w *work) noteStored(object *unstructured.Unstructured) error {
	sent := w.sent
	if w.sent = ""; sent == "" || object == nil {
		return nil
	}
	stored, err := record.Digest(w.rules.Of(object.Object))
	if err == nil {
		w.known.shared.Lock()
		defer w.known.shared.Unlock()
		w.known.edits.stored(sent, stored)
	}
	return err
}

// isOwnEdit reports whether only handlers have changed the essence since it had a digest.
func (p *pass) isOwnEdit(before string) bool {
	p.known.shared.Lock()
	defer p.known.shared.Unlock()
	return p.known.edits.lead(before, p.digest)
}

// noteEditors notes which handlers of the cause have changed the essence by the write that was just made.
func (p *pass) noteEditors() {
	changes := slices.Concat(p.edited.rest, p.edited.status)
	if p.edited = (edited{}); len(changes) == 0 {
		return
	}
	authors := p.outcome.authors()
	for _, h := range p.selected { // not timers
		if authors[h.ID] && !slices.Contains(p.editors, h.ID) {
			p.editors, p.editedFirst = append(p.editors, h.ID), changes[0].String()
		}
	}
}

// watchLoops logs when handlers change in each update what is an update again.
func (p *pass) watchLoops() {
	switch {
	case !p.called || p.reason != cause.Create && p.reason != cause.Update:
		return
	case len(p.editors) == 0:
		p.known.loops = 0
		return
	}
	if p.known.loops++; p.known.loops%mostLoops != 0 {
		return
	}
	p.log.Warn("handlers call themselves again and again: they change the object with each update, which is an update: change fields that no handler is about, or set the same value each time",
		"handlers", p.editors, "changed", p.editedFirst, "updates", p.known.loops)
}
