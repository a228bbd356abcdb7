package joint

import (
	"context"
	"errors"
	"maps"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Member is a reconciler that can be joined: one of package desired.
type Member interface {
	watch.Reconciler
	watch.Forgetter
	watch.RightsProvider
	source.Provider
	standing.Provider
	finalizer.Provider
}

// Reconciler has each of its members reconcile an object, in their order. An error of one doesn't keep the next one
// from it; the object is tried again as the errors say, by all members. It is safe for concurrent use if the members
// are.
type Reconciler []Member

// Reconcile implements watch.Reconciler.
func (r Reconciler) Reconcile(ctx context.Context, req request.Request) (all request.Result, err error) {
	var errs []error
	for _, member := range r {
		result, err := member.Reconcile(ctx, req)
		if after := result.RequeueAfter; err == nil && after > 0 && (all.RequeueAfter <= 0 || after < all.RequeueAfter) {
			all.RequeueAfter = after
		}
		all.Wrote = append(all.Wrote, result.Wrote...)
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	if request.IsPermanent(err) && all.RequeueAfter > 0 { // the error of one doesn't end what another one waits for
		return all, request.RetryAfter(all.RequeueAfter, errors.New(err.Error()))
	}
	return all, err
}

// Sources implements source.Provider: what counts for one member counts. Only the fields that package desired sets are
// joined: When and Owned.
func (r Reconciler) Sources() (all source.Sources) {
	var when []filter.Predicate
	owned := map[schema.GroupVersionKind]bool{}
	for _, member := range r {
		s := member.Sources()
		if s.When == nil {
			s.When = filter.Standard()
		}
		when = append(when, s.When)
		for _, one := range s.Owned {
			if !owned[one.Kind] {
				all.Owned = append(all.Owned, one)
			}
			owned[one.Kind] = true
		}
	}
	all.When = filter.Or(when...)
	return all
}

// Forget implements watch.Forgetter.
func (r Reconciler) Forget(key deploy.Ref) {
	for _, member := range r {
		member.Forget(key)
	}
}

// Rights implements watch.RightsProvider.
func (r Reconciler) Rights() (all []deploy.Right) {
	for _, member := range r {
		all = append(all, member.Rights()...)
	}
	return all
}

// Finalizers implements finalizer.Provider.
func (r Reconciler) Finalizers() (all []string) {
	for _, member := range r {
		all = append(all, member.Finalizers()...)
	}
	return all
}

// Tally implements standing.Provider: each member counts the objects that it reconciles, so that an object of two
// members is counted twice.
func (r Reconciler) Tally() (all standing.Tally) {
	all.Resources = map[standing.Standing]int{}
	for _, member := range r {
		for state, count := range maps.All(member.Tally().Resources) {
			all.Resources[state] += count
		}
	}
	return all
}
