// Package pause reads the annotation <domain>/pause-execution, by which people make an operator leave a resource alone.
//
// # When to use it
//
// Use it in a reconciler of your own, whatever its style, so that the commands pause and resume of an operator work for
// its resources:
//
//	if p := pause.Of(resource, env.Manager.KeyDomain(), env.Now()); p.Paused {
//		return request.Result{RequeueAfter: p.Left(env.Now())}, nil
//	}
//
// A *reconcile.Reconciler does this by itself, and reports the pause in a condition. The predicates Paused, Unpaused
// and UnlessPaused of package filter decide which events of a paused resource count.
package pause
