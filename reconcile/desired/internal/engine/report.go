package engine

import (
	"context"

	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
)

// report writes a status that a function has returned, nil for the present one. changed: it was written.
func (p *pass) report(ctx context.Context, value any) (changed bool, err error) {
	var wanted answer.Status
	if value != nil {
		if wanted, err = answer.ReadStatus(value); err != nil {
			return false, request.Permanent(err)
		}
	}
	var invalid error
	var differs bool
	err = p.Report(ctx, p.seen.Parent, p.log, nil, true, func(present map[string]any) (next map[string]any, changed bool, err error) {
		if differs = false; wanted == nil {
			return present, false, nil
		}
		next, differs, invalid = wanted.Over(present, p.seen.Parent.GetGeneration(), p.Now())
		return next, differs, invalid
	})
	switch {
	case invalid != nil:
		return false, request.Permanent(invalid)
	case err != nil:
		return false, lifecycle.Unwritten(p.log, err)
	case !differs:
		return false, nil
	}
	// The schema may drop all that differs, so that nothing was written.
	current, err := p.Manager.View().Get(ctx, p.key)
	return current != nil && current.GetResourceVersion() != p.seen.Parent.GetResourceVersion(), err
}
