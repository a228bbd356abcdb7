package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// lastWord bounds the writes after a pass that took too long.
	lastWord = 10 * time.Second
	// mostEdits is the number of updates in a row, caused by the handlers' own edits, after which that is logged.
	mostEdits = 5
)

// end writes what the pass has done. When all handlers have ended, the object is handled as it was at the beginning of
// the pass.
func (p *pass) end(ctx context.Context) error {
	done := p.record.Cycle.Done()
	if done && !p.settled && p.records && p.reason != cause.Delete {
		p.record.Digest, p.record.Essence, p.record.Cycle = p.digest, p.essence, nil
	}
	if !p.settled || !p.outcome.isEmpty() || p.finalizerChanges() {
		if err := p.write(ctx); err != nil {
			return err
		}
	}
	done = done && p.record.Cycle.Done() // the cluster may have refused what a handler has done
	p.known.resumed = p.known.resumed || done
	if p.settled {
		p.known.version = p.object.GetResourceVersion()
	}
	return nil
}

// write writes what handlers have done: the status first, then the record with everything else, so that nothing that
// succeeded is lost if the process ends in between. What can't be written is kept for the next pass.
func (p *pass) write(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
	}
	err := p.writeAll(ctx)
	if invalid, ok := errors.AsType[*deploy.InvalidError](err); ok && p.refuse(invalid) {
		err = p.writeAll(ctx)
	}
	if err != nil {
		p.outcome.record, p.outcome.base = p.record, p.object.GetAnnotations()[p.key]
		p.known.unwritten = &p.outcome
		return err
	}
	p.outcome, p.known.unwritten = outcome{}, nil
	return nil
}

func (p *pass) writeAll(ctx context.Context) error {
	if err := p.writeStatus(ctx); err != nil {
		return err
	}
	return p.writeObject(ctx)
}

// writeStatus writes the status: the updates of handlers, results and conditions.
func (p *pass) writeStatus(ctx context.Context) error {
	if err := p.conditions.Err(); err != nil {
		p.log.Error("conditions aren't written", "error", err)
	}
	if p.outcome.isEmpty() {
		return nil
	}
	return p.Report(ctx, p.object, p.log, p.conditions, true, p.withOutcome)
}

// withOutcome returns the present status with what handlers have done.
func (p *pass) withOutcome(present map[string]any) (next map[string]any, changed bool, err error) {
	object := map[string]any{}
	for key, value := range p.object.Object {
		object[key] = value
	}
	object["status"] = present
	if present == nil {
		delete(object, "status")
	}
	if object, err = p.outcome.updated(object); err != nil {
		return nil, false, err
	}
	next, _ = object["status"].(map[string]any)
	next = p.outcome.withResults(next)
	return next, len(diff.Of(anyOf(present), anyOf(next))) > 0, nil
}

// anyOf returns nil for a nil map.
func anyOf(content map[string]any) any {
	if content == nil {
		return nil
	}
	return content
}

// writeObject writes the record, the finalizer, and the updates of handlers outside of the status.
func (p *pass) writeObject(ctx context.Context) error {
	var edited []diff.Item
	result, err := p.Manager.Change(ctx, p.ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if current.GetUID() != p.object.GetUID() {
			return nil, nil
		}
		content, err := p.outcome.updated(current.Object)
		if err != nil {
			return nil, err
		}
		if len(p.outcome.updates) > 0 {
			edited = diff.Of(p.rules.Of(current.Object), p.rules.Of(content))
		}
		next := (&unstructured.Unstructured{Object: content}).DeepCopy()
		p.setFinalizer(next)
		return next, p.setRecord(next)
	})
	switch {
	case err != nil && p.reason == cause.Delete && failure.Is[*deploy.InvalidError](err) && !p.releases():
		p.log.Warn("the progress of the deletion can't be stored: it is kept in memory", "error", err)
		p.outcome.record, p.outcome.base = p.record, p.object.GetAnnotations()[p.key]
		return nil
	case err != nil:
		return fmt.Errorf("record of handlers: %w", err)
	}
	p.watchEdits(edited)
	if len(edited) > 0 && p.known.times != nil && result.Object != nil {
		if p.known.times.digest, err = record.Digest(p.rules.Of(result.Object.Object)); err != nil {
			return fmt.Errorf("record of handlers: %w", err)
		}
	}
	if p.config.stateless {
		stored := p.record
		p.known.record = &stored
	} else if result.Object != nil && p.record.Cycle.Done() && p.reason != cause.Delete && (p.records || !p.keeps) {
		p.known.settle("", result.Object.GetAnnotations()[p.key], p.digest)
	}
	return nil
}

// setRecord sets the record.
func (p *pass) setRecord(next *unstructured.Unstructured) error {
	if p.settled || p.config.stateless || p.releases() || !p.records {
		return nil
	}
	annotations, others := next.GetAnnotations(), 0
	for key, value := range annotations {
		if key != p.key {
			others += len(key) + len(value)
		}
	}
	p.record.Crons = maps.Clone(p.record.Crons)
	maps.DeleteFunc(p.record.Crons, func(id string, _ time.Time) bool { return !p.timed.has(id) })
	text, err := p.record.Text(others)
	if err != nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[p.key] = text
	next.SetAnnotations(annotations)
	return nil
}

// releases reports whether the deletion has been handled, and no daemon runs any more.
func (p *pass) releases() bool {
	return p.reason == cause.Delete && p.record.Cycle.Done() && !p.standing.Active()
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

// refuse handles that the cluster refuses what handlers have set: these handlers have failed. It reports whether there
// are any.
func (p *pass) refuse(why error) bool {
	set := map[string]bool{}
	for _, u := range p.outcome.updates {
		set[u.handler] = true
	}
	for id := range p.outcome.results {
		set[id] = true
	}
	p.outcome.updates, p.outcome.results = nil, nil
	for _, h := range p.handlers {
		record, called := p.record.Cycle[h.ID]
		if !set[h.ID] || !called {
			continue
		}
		record.Ended, record.Failed, record.Attempts = time.Time{}, false, max(0, record.Attempts-1)
		err := fmt.Errorf("the cluster refuses what it has set: %w", why)
		record = h.after(record, err, p.Now())
		p.record.Cycle = p.record.Cycle.With(h.ID, record)
		p.tell(h, record, err)
	}
	return len(set) > 0
}

// watchEdits logs when handlers change in each update what is an update again.
func (p *pass) watchEdits(edited []diff.Item) {
	if len(edited) == 0 {
		if p.reason == cause.Update {
			p.known.edits = 0
		}
		return
	}
	if p.known.edits++; p.known.edits%mostEdits != 0 {
		return
	}
	var ids []string
	for _, u := range p.outcome.updates {
		if !slices.Contains(ids, u.handler) {
			ids = append(ids, u.handler)
		}
	}
	p.log.Warn("handlers call themselves again and again: they change the object with each update, which is an update: write to the status, or set the same value each time",
		"handlers", ids, "changed", edited[0].String(), "updates", p.known.edits)
}
