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
	result, err := p.Report(ctx, p.seen.Parent, p.log, nil, true, func(present map[string]any) (next map[string]any, differs bool, err error) {
		next, isReadable := withoutUnreadable(present)
		if wanted == nil {
			return next, isReadable, nil
		}
		next, differs, invalid = wanted.Over(next, p.seen.Parent.GetGeneration(), p.Now())
		return next, differs || isReadable, invalid
	})
	switch {
	case invalid != nil:
		return false, request.Permanent(invalid)
	case err != nil:
		return false, lifecycle.Unwritten(p.log, err)
	}
	return result.Changed(), nil
}
