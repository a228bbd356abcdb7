package engine

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/internal/failure"
)

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
