package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

// made is a call of a handler in a pass, for the case that the cluster refuses what the handler has set.
type made struct {
	// record is that of a handler of a cause during the call.
	record progress.Record
	// timer is the call of a timer or cron, nil for others.
	timer *timedRun
	// refused is why the cluster has refused it, nil if it hasn't.
	refused error
}

// timedRun is a call of a timer or cron: the place of its handler, and its state before.
type timedRun struct {
	place  int
	before schedule.State
	start  time.Time
}

// madeBy returns the call of a handler, a new one if it has none in this pass.
func (p *pass) madeBy(id string) *made {
	if p.calls[id] == nil {
		if p.calls == nil {
			p.calls = map[string]*made{}
		}
		p.calls[id] = &made{record: p.record.Cycle[id].Undone()}
	}
	return p.calls[id]
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

// refuse handles that the cluster refuses what handlers have set: these handlers have failed.
func (p *pass) refuse(authors map[string]bool, why error) {
	p.outcome.drop(authors)
	err := fmt.Errorf("the cluster refuses what it has set: %w", why)
	for _, h := range p.handlers {
		if !authors[h.ID] {
			continue
		}
		call := p.madeBy(h.ID)
		call.refused = err
		switch _, called := p.record.Cycle[h.ID]; {
		case called:
			record := h.after(call.record, err, p.Now())
			p.record.Cycle = p.record.Cycle.With(h.ID, record)
			p.tell(h, record, err)
		case call.timer != nil:
			run := call.timer
			p.known.times.states[run.place] = p.afterTimed(h, p.timed.rules[run.place], run.before, err, run.start)
		default: // a handler of an earlier pass
			p.tell(h, progress.Record{}.FailedForGood(err.Error(), p.Now()), err)
		}
	}
}
