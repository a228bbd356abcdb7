package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// change writes what handlers have changed outside of the status, and what more changes.
func (w *work) change(ctx context.Context, more func(next *unstructured.Unstructured) error) (deploy.Result, error) {
	result, err := w.Manager.Change(ctx, w.ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if current.GetUID() != w.object.GetUID() {
			return nil, nil
		}
		content, err := w.outcome.updated(current.Object)
		if err != nil {
			return nil, err
		}
		if len(w.outcome.updates) > 0 {
			if w.edited.rest, err = w.noteEdit(w.rules.Of(current.Object), w.rules.Of(content)); err != nil {
				return nil, err
			}
		}
		next := (&unstructured.Unstructured{Object: content}).DeepCopy()
		return next, more(next)
	})
	if err == nil {
		err = w.noteStored(result.Object)
	}
	return result, err
}

// writeObject writes the finalizer, the updates of handlers outside of the status, and a record in the annotation.
func (p *pass) writeObject(ctx context.Context) error {
	result, err := p.change(ctx, func(next *unstructured.Unstructured) error {
		p.setFinalizer(next)
		return p.setRecord(next)
	})
	if err != nil {
		return fmt.Errorf("record of handlers: %w", err)
	}
	if p.store.Field == "" || !p.isRecorded() {
		p.recorded(result.Object)
	}
	return nil
}

// isRecorded reports whether the record of the object is written.
func (p *pass) isRecorded() bool {
	return !p.settled && !p.config.Stateless && !p.releases() && (p.records || len(p.record.Crons) > 0)
}

// setRecord sets a record that is kept in the annotation.
func (p *pass) setRecord(next *unstructured.Unstructured) error {
	if p.store.Field != "" || !p.isRecorded() {
		return nil
	}
	annotations, others := next.GetAnnotations(), 0
	for key, value := range annotations {
		if key != p.store.Key {
			others += len(key) + len(value)
		}
	}
	text, err := p.stored().Text(others, p.rules.Extra...)
	if err != nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[p.store.Key] = text
	next.SetAnnotations(annotations)
	return nil
}

// withRecord returns the present status with what handlers have done, and with a record that is kept there.
func (p *pass) withRecord(present map[string]any) (next map[string]any, changed bool, err error) {
	next, changed, err = p.withOutcome(present)
	if err != nil || p.store.Field == "" || !p.isRecorded() {
		return next, changed, err
	}
	text, err := p.stored().Text(0, p.rules.Extra...)
	if err != nil {
		return nil, false, err
	}
	next = p.store.Over(next, text)
	return next, len(diff.Of(present, next)) > 0, nil
}

// recorded remembers what was written, with the object as the cluster has stored it, nil if it is gone. A record that
// isn't there is kept in memory.
func (p *pass) recorded(object *unstructured.Unstructured) {
	isDropped := p.store.Field != "" && p.isRecorded() && object != nil && p.store.InStatus(object.Object) == ""
	if p.config.Stateless || isDropped {
		stored := p.stored()
		p.known.record = &stored
		return
	}
	p.known.record = nil
	if object != nil && p.record.Cycle.Done() && p.reason != cause.Delete && (p.records || !p.keeps) {
		p.known.settle(p.store.Text(object.Object), p.digest)
	}
}

// stored returns the record that is to be stored. When all handlers have ended, the object is handled as they saw it.
func (p *pass) stored() record.Record {
	stored := p.record
	stored.Crons = maps.Clone(stored.Crons)
	maps.DeleteFunc(stored.Crons, func(id string, _ time.Time) bool { return !p.timed.has(id) })
	if p.records && p.reason != cause.Delete && stored.Cycle.Done() {
		stored.Digest, stored.Essence, stored.Fields, stored.Cycle = p.digest, p.essence, nil, nil
	}
	return stored
}

// releases reports whether the deletion has been handled, and no daemon runs any more.
func (p *pass) releases() bool {
	return p.reason == cause.Delete && p.record.Cycle.Done() && !p.standing.Active() && !p.unsure
}

// finalizerChanges reports whether the finalizer has to be removed.
func (p *pass) finalizerChanges() bool {
	return p.isHeld(p.object) && (p.releases() || p.reason != cause.Delete && !p.needsFinalizer && !p.standing.Active())
}

// setFinalizer removes the finalizer, if no handler needs it any more.
func (p *pass) setFinalizer(next *unstructured.Unstructured) {
	if p.finalizerChanges() {
		next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), p.isOwn))
	}
}
