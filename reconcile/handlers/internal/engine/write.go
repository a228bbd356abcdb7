package engine

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/leader"
)

const (
	// lastWord bounds the writes after a pass that took too long.
	lastWord = 10 * time.Second
	// mostLoops is the number of updates in a row, caused by the handlers' own edits, after which that is logged.
	mostLoops = 5
)

// end writes what the pass has done.
func (p *pass) end(ctx context.Context) error {
	done := p.record.Cycle.Done()
	var err error
	if !p.settled || !p.outcome.isEmpty() || p.finalizerChanges() {
		err = p.write(ctx)
	}
	p.watchLoops()
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
		p.noteEditors()
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
	p.known.unwritten = &unwritten{p.outcome.clone(), p.stored(), p.store.Text(p.object.Object)}
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

// writeAll writes the status, then everything else. With a record in the status it is the other way round, so that
// what handlers have set is never lost, and the record is never there without it; but the finalizer is removed last.
func (p *pass) writeAll(ctx context.Context) error {
	p.edited = edited{}
	if p.store.Field != "" && !p.releases() {
		if err := p.writeObject(ctx); err != nil {
			return err
		}
		return p.writeStatus(ctx)
	}
	if err := p.writeStatus(ctx); err != nil {
		return err
	}
	return p.writeObject(ctx)
}

// writeStatus writes the status: the updates of handlers, results and conditions, and a record that is kept there. A
// status that can't be written doesn't hold up a deletion that was handled.
func (p *pass) writeStatus(ctx context.Context) error {
	if err := p.conditions.Err(); err != nil {
		p.log.Error("conditions aren't written", "error", err)
	}
	recorded := p.store.Field != "" && p.isRecorded()
	if p.outcome.isEmpty() && !recorded {
		return nil
	}
	result, err := p.Report(ctx, p.object, p.log, p.conditions, true, p.withRecord)
	if err == nil {
		err = p.noteStored(result.Object)
	}
	switch {
	case err == nil && recorded:
		p.recorded(result.Object)
		return nil
	case err == nil || len(p.authorsOf(err)) > 0:
		return err
	}
	left := lifecycle.Unwritten(p.log, err)
	switch {
	case left == nil && recorded: // it was logged, but nothing says what was handled
		return err
	case left == nil || !p.releases():
		return left
	}
	p.log.Warn("status not written", "error", err)
	return nil
}
