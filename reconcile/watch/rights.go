package watch

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
)

// RightsProvider may be implemented by a Reconciler that knows what it needs to be allowed to do. When a kind can't be
// watched because a right is missing, the engine logs all rights that are missing, of all its kinds.
type RightsProvider interface {
	Rights() []deploy.Right
}

// rights returns what the reconcilers of all kinds need. A reconciler that isn't a RightsProvider reads its kind and the
// kinds of its sources.
func (e *Engine) rights() (rights []deploy.Right) {
	for _, c := range e.all() {
		if provider, ok := c.Reconciler.(RightsProvider); ok {
			rights = append(rights, provider.Rights()...)
			continue
		}
		sources := c.rules.Sources()
		rights = append(rights, deploy.Right{Kind: c.kind, Verbs: reads})
		for _, owned := range sources.Owned {
			rights = append(rights, deploy.Right{Kind: owned.Kind, Verbs: reads})
		}
		for _, mapped := range sources.Mapped {
			rights = append(rights, deploy.Right{Kind: mapped.Kind, Verbs: reads})
		}
		for _, indexed := range sources.Indexed {
			rights = append(rights, deploy.Right{Kind: indexed.Kind, Verbs: reads})
		}
	}
	return rights
}

// reads are the verbs that a watch of a kind needs.
var reads = []string{"get", "list", "watch"}

// reportRights logs the rules that grant all missing rights, if err is about a missing right. Each list is logged once.
func (e *Engine) reportRights(ctx context.Context, err error) {
	e.lacking.Lock()
	defer e.lacking.Unlock()
	missing, ok := errors.AsType[*deploy.MissingRightsError](deploy.WithMissingRights(ctx, e.view, err, e.rights))
	if !ok || missing.Rules.String() == e.lacked {
		return
	}
	e.lacked = missing.Rules.String()
	e.options.logger.Warn("rights are missing: add these rules to the role of the operator", "rules", e.lacked)
}
