package engine

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
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/leader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// lastWord bounds the writes after a pass that took too long.
	lastWord = 10 * time.Second
	// mostEdits is the number of updates in a row, caused by the handlers' own edits, after which that is logged.
	mostEdits = 5
)

// end writes what the pass has done.
func (p *pass) end(ctx context.Context) error {
	done := p.record.Cycle.Done()
	var err error
	if !p.settled || !p.outcome.isEmpty() || p.finalizerChanges() {
		err = p.write(ctx)
	}
	if done && p.record.Cycle.Done() { // otherwise the cluster has refused what a handler has set
		p.known.resumed = true
		if p.called {
			p.log.Info("handlers have ended", "cause", string(p.reason), "handlers", len(p.selected), "failed", p.countFailed())
		}
	}
	if p.settled && err == nil {
		p.known.version = p.object.GetResourceVersion()
	}
	return err
}

func (p *pass) countFailed() (n int) {
	for _, h := range p.selected {
		if p.record.Cycle[h.ID].Failed {
			n++
		}
	}
	return n
}

// write writes what handlers have done: the status first, then the record with everything else, so that nothing that
// succeeded is lost if the process ends in between. What can't be written is kept for the next pass. What the cluster
// refuses is a failure of the handlers that have set it.
func (p *pass) write(ctx context.Context) error {
	ctx, cancel := lastWords(ctx)
	defer cancel()
	err := p.writeAll(ctx)
	for err != nil {
		authors := p.authorsOf(err)
		if len(authors) == 0 {
			break
		}
		p.refuse(authors, err)
		err = p.writeAll(ctx)
	}
	switch {
	case err == nil:
		p.outcome, p.known.unwritten = outcome{}, nil
		return nil
	case p.reason == cause.Delete && !p.releases() && failure.Is[*deploy.InvalidError](err):
		p.log.Warn("the progress of the deletion can't be stored: it is kept in memory", "error", err)
		p.outcome = outcome{}
		p.keep()
		return nil
	}
	p.keep()
	return err
}

// keep keeps what couldn't be written for the next pass.
func (p *pass) keep() {
	p.known.unwritten = &unwritten{p.outcome.clone(), p.stored(), p.object.GetAnnotations()[p.key]}
}

// lastWords returns a context for writes that have to be made although ctx has ended, unless another process leads by
// now.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil || isLost(ctx) {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), lastWord)
}

// isLost reports whether the leadership was lost to which ctx belongs.
func isLost(ctx context.Context) bool {
	term, _ := leader.TermOf(ctx)
	select {
	case <-term.Lost:
		return true
	default:
		return errors.Is(context.Cause(ctx), leader.ErrLost)
	}
}

// authorsOf returns the handlers whose fault an error of a write is, none if it is another's.
func (p *pass) authorsOf(err error) map[string]bool {
	if broken, ok := errors.AsType[*updateError](err); ok {
		return map[string]bool{broken.handler: true}
	}
	if failure.Is[*deploy.InvalidError](err) {
		return p.outcome.authors()
	}
	return nil
}

func (p *pass) writeAll(ctx context.Context) error {
	if err := p.writeStatus(ctx); err != nil {
		if len(p.authorsOf(err)) > 0 {
			return err
		}
		switch left := lifecycle.Unwritten(p.log, err); {
		case left != nil && !p.releases():
			return left
		case left != nil:
			p.log.Warn("status not written", "error", err)
		}
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
	if err != nil {
		return fmt.Errorf("record of handlers: %w", err)
	}
	p.watchEdits(edited)
	if len(edited) > 0 && p.known.times != nil && result.Object != nil {
		if p.known.times.digest, err = record.Digest(p.rules.Of(result.Object.Object)); err != nil {
			return fmt.Errorf("record of handlers: %w", err)
		}
	}
	if p.config.Stateless {
		stored := p.stored()
		p.known.record = &stored
	} else if result.Object != nil && p.record.Cycle.Done() && p.reason != cause.Delete && (p.records || !p.keeps) {
		p.known.settle(result.Object.GetAnnotations()[p.key], p.digest)
	}
	return nil
}

// setRecord sets the record.
func (p *pass) setRecord(next *unstructured.Unstructured) error {
	if p.settled || p.config.Stateless || p.releases() || !p.records && len(p.record.Crons) == 0 {
		return nil
	}
	annotations, others := next.GetAnnotations(), 0
	for key, value := range annotations {
		if key != p.key {
			others += len(key) + len(value)
		}
	}
	text, err := p.stored().Text(others)
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

// stored returns the record that is to be stored. When all handlers have ended, the object is handled as they saw it.
func (p *pass) stored() record.Record {
	stored := p.record
	stored.Crons = maps.Clone(stored.Crons)
	maps.DeleteFunc(stored.Crons, func(id string, _ time.Time) bool { return !p.timed.has(id) })
	if p.records && p.reason != cause.Delete && stored.Cycle.Done() {
		stored.Digest, stored.Essence, stored.Cycle = p.digest, p.essence, nil
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

// refuse handles that the cluster refuses what handlers have set: these handlers have failed.
func (p *pass) refuse(authors map[string]bool, why error) {
	p.outcome.drop(authors)
	err := fmt.Errorf("the cluster refuses what it has set: %w", why)
	if p.refused == nil {
		p.refused = map[string]error{}
	}
	for _, h := range p.handlers {
		if !authors[h.ID] {
			continue
		}
		p.refused[h.ID] = err
		record, called := p.record.Cycle[h.ID]
		switch run, isTimed := p.ran[h.ID]; {
		case called:
			record = h.after(record.Undone(), err, p.Now())
			p.record.Cycle = p.record.Cycle.With(h.ID, record)
			p.tell(h, record, err)
		case isTimed:
			p.known.times.states[run.place] = p.afterTimed(h, p.timed.rules[run.place], run.before, err, run.start)
		default: // a handler of an earlier pass
			p.tell(h, progress.Record{}.FailedForGood(err.Error(), p.Now()), err)
		}
	}
}

// watchEdits logs when handlers change in each update what is an update again.
func (p *pass) watchEdits(edited []diff.Item) {
	var ids []string
	authors := p.outcome.authors()
	for _, h := range p.selected { // not timers
		if authors[h.ID] {
			ids = append(ids, h.ID)
		}
	}
	switch {
	case p.reason != cause.Create && p.reason != cause.Update:
		return
	case len(edited) == 0 || len(ids) == 0:
		p.known.edits = 0
		return
	}
	if p.known.edits++; p.known.edits%mostEdits != 0 {
		return
	}
	p.log.Warn("handlers call themselves again and again: they change the object with each update, which is an update: write to the status, or set the same value each time",
		"handlers", ids, "changed", edited[0].String(), "updates", p.known.edits)
}
