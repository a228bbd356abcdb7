package engine

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
)

// Rights implements watch.RightsProvider: it returns all that is done for the parents and the declared children, by
// each strategy that a child may have, and the reads of the declared related kinds. A kind whose scope isn't known yet
// counts as namespaced.
func (r *Reconciler) Rights() []deploy.Right {
	reads := []string{"get", "list", "watch"}
	rights := []deploy.Right{
		{Kind: r.Kind, Verbs: append(slices.Clone(reads), "patch")},
		{Kind: r.Kind, Subresource: "finalizers", Verbs: []string{"update"}},
		{Kind: r.Kind, Subresource: "status", Verbs: []string{"patch"}},
	}
	var checks []deploy.Right
	for _, kind := range r.kinds {
		// A child that is replaced, which its annotation may ask for, is written by an update.
		rights = append(rights, deploy.Right{Kind: kind, Verbs: append(slices.Clone(reads), "create", "update", "patch", "delete")})
		if !recreates(r.children[kind].Strategy) {
			continue
		}
		for _, right := range deploy.RecreateRights(kind, r.scopes.of(kind)) {
			if !slices.ContainsFunc(checks, func(known deploy.Right) bool { return known.Kind == right.Kind }) {
				checks = append(checks, right)
			}
		}
	}
	rights = append(rights, checks...)
	if len(r.Revisions) > 0 {
		rights = append(rights, deploy.Right{Kind: revision.Kind, Verbs: append(slices.Clone(reads), "create", "patch", "delete")})
	}
	for _, kind := range r.Relates {
		rights = append(rights, deploy.Right{Kind: kind, Verbs: slices.Clone(reads)})
	}
	return rights
}
