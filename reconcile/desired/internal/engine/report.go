package engine

import (
	"context"
	"reflect"

	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
)

// report writes a status, nil for the present one. changed: it was written.
func (p *pass) report(ctx context.Context, wanted answer.Status) (changed bool, err error) {
	var invalid error
	result, err := p.Report(ctx, p.seen.Parent, p.log, nil, true, func(present map[string]any) (next map[string]any, differs bool, err error) {
		next, isReadable := p.withoutOld(present)
		switch {
		case wanted == nil:
			return next, isReadable, nil
		case p.Decorates:
			return wanted, !reflect.DeepEqual(map[string]any(wanted), present), nil
		}
		next, differs, invalid = wanted.With(p.updated()).Over(next, p.seen.Parent.GetGeneration(), p.Now())
		return next, differs || isReadable, invalid
	})
	switch {
	case invalid != nil:
		return false, p.mistake(invalid)
	case err != nil:
		return false, lifecycle.Unwritten(p.log, err)
	}
	return result.Changed(), nil
}
