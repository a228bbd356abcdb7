package engine

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/request"
)

// read reads the record, unless nothing has happened since the last pass.
func (p *pass) read() (err error) {
	isDeleting := p.object.GetDeletionTimestamp() != nil
	version := p.object.GetResourceVersion()
	if version != "" && version == p.known.version && p.known.unwritten == nil && !isDeleting {
		p.settled, p.digest = true, p.known.digest
		return nil
	}
	p.essence = p.rules.Of(p.object.Object)
	if p.digest, err = record.Digest(p.essence); err != nil {
		return fmt.Errorf("%s: %w", p.ref, err)
	}
	text := p.store.Text(p.object.Object)
	if !isDeleting && p.known.unwritten == nil && p.known.isSettled(text, p.digest) && p.known.record == nil {
		p.settled = true
		return nil
	}
	if p.config.Reads != nil {
		p.unreadable = p.config.Reads(p.object.Object)
	}
	if err := p.readRecord(text); err != nil && !isDeleting {
		return request.Permanent(fmt.Errorf("%s: %s: %w: remove the %s to have the object handled as a new one", p.ref, p.store, err, p.store.Form()))
	} else if err != nil {
		p.log.Warn("the record of handlers can't be read: the deletion goes on without it", "record", p.store.String(), "error", err)
	}
	if p.known.unwritten != nil {
		p.outcome = p.known.unwritten.outcome.clone()
	}
	for _, report := range p.outcome.reports {
		report(p.conditions)
	}
	return nil
}

// readRecord reads the record: what an earlier pass couldn't write, what is on the object, or what the process
// remembers.
func (p *pass) readRecord(text string) (err error) {
	switch {
	case p.known.unwritten != nil && p.known.unwritten.base == text:
		p.record = p.known.unwritten.record
	case p.known.record != nil:
		p.record = *p.known.record
	case !p.config.Stateless:
		p.record, err = record.Of(text, p.object.GetUID())
		if !p.known.seen { // handlers of Resume are called once in each process
			p.record.Cycle = p.record.Cycle.Without(cause.Resume)
		}
	case p.known.listed:
		p.record = record.Record{Digest: p.digest, Essence: p.essence} // it was there when the process started
	}
	if err == nil && !p.record.Handled() && len(p.record.Cycle) == 0 {
		p.takeOver()
	}
	p.rename()
	p.known.seen = p.known.seen || p.unreadable == nil
	return err
}

// takeOver makes a record of what a kopf operator has recorded.
func (p *pass) takeOver() {
	if found, ok := p.config.Kopf.essence(p.object.Object); ok {
		found = p.rules.Clean(found)
		if digest, err := record.Digest(found); err == nil {
			p.record.Digest, p.record.Essence = digest, found
		}
	}
}

// rename moves what is recorded of handlers with former ids.
func (p *pass) rename() {
	for _, h := range p.handlers {
		for _, id := range h.Formerly {
			p.record = p.record.Renamed(id, h.ID)
		}
	}
}
