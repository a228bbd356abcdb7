package engine

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
)

// prove proves that the cluster keeps records in the status, once in a process, before a handler is called for an
// object that has none: a schema without the field would drop the record, and each pass would be a creation. A deletion
// doesn't wait for the proof.
func (p *pass) prove(ctx context.Context) error {
	switch {
	case p.store.Field == "" || p.isKept.Load() || p.object.GetDeletionTimestamp() != nil:
		return nil
	case p.store.InStatus(p.object.Object) != "":
		p.isKept.Store(true)
		return nil
	case !p.isRecorded():
		return nil
	}
	result, err := p.Amend(ctx, p.object, p.log, nil, p.withRecord)
	switch {
	case err != nil:
		return fmt.Errorf("the record of handlers can't be kept in the %s, so no handler is called: %w", p.store, err)
	case result.Object == nil:
		return nil // it is gone
	case p.store.InStatus(result.Object.Object) == "":
		return request.RetryAfter(lifecycle.SentAgain, fmt.Errorf(
			"handlers of %s: the CustomResourceDefinition drops the %s, in which the record is kept, so no handler is called: add it to its schema, with type: string",
			p.Kind.Kind, p.store))
	}
	p.isKept.Store(true)
	return nil
}
