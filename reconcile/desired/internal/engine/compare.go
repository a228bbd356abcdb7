package engine

import (
	"context"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/internal/failure"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// work is what is to be done with the children.
type work struct {
	wanted   []answer.Child
	facts    []plan.Wanted
	unwanted []*unstructured.Unstructured
	others   []plan.Unwanted
	// restored: an object got the parent as its owner, so that the children have to be observed again.
	restored bool
	// errs are the errors of the children whose state is plan.Unknown.
	errs []error
}

// isGoing reports whether children that aren't wanted are being deleted.
func (w work) isGoing() bool {
	return slices.ContainsFunc(w.others, func(other plan.Unwanted) bool { return other.Terminating && !other.Protected })
}

// compare finds out which children differ from the wanted ones.
func (p *pass) compare(ctx context.Context, wanted []answer.Child) (w work) {
	w.wanted, w.facts = wanted, make([]plan.Wanted, len(wanted))
	live := make([]*unstructured.Unstructured, len(wanted))
	isWanted := make(map[deploy.Ref]bool, len(wanted))
	rolling := map[int]bool{}
	for i, child := range wanted {
		isWanted[child.Ref] = true
		strategy, isIgnored := p.strategyOf(child)
		fact := plan.Wanted{Group: p.places[child.Ref.Kind], Strategy: strategy}
		var err error
		if isIgnored {
			fact.State = plan.Current
		} else if live[i], err = p.liveOf(ctx, child.Ref, &w); err != nil {
			fact.State, w.errs = plan.Unknown, append(w.errs, err)
		} else {
			fact.State = p.stateOf(ctx, child, live[i])
		}
		rolling[fact.Group] = rolling[fact.Group] || fact.Strategy.Rolls() && (fact.State == plan.Outdated || len(p.history) > 1)
		w.facts[i] = fact
	}
	for i := range wanted {
		if fact := &w.facts[i]; live[i] != nil && rolling[fact.Group] {
			fact.Healthy = p.isHealthy(live[i], fact.State)
		}
	}
	for _, kind := range p.kinds {
		isProtected := deploy.Protected(kind.GroupKind()) && !p.children[kind].Deletable
		for _, obj := range p.seen.Children.Of(kind) {
			if isWanted[deploy.RefOf(obj)] {
				continue
			}
			w.unwanted = append(w.unwanted, obj)
			w.others = append(w.others, plan.Unwanted{Terminating: obj.GetDeletionTimestamp() != nil, Protected: isProtected})
		}
	}
	return w
}

// liveOf returns the object with the name of a wanted child, nil if there is none. If the object has lost its owner, it
// gets the parent as its owner, and nothing else is written: so its strategy counts for it as for other children. An
// object of somebody else is an error.
func (p *pass) liveOf(ctx context.Context, ref deploy.Ref, w *work) (*unstructured.Unstructured, error) {
	if child := p.seen.Children.At(ref); child != nil {
		return child, nil
	}
	obj, err := p.Manager.View().Get(ctx, ref)
	switch {
	case failure.Is[*deploy.KindUnknownError](err): // its creation is the error
		return nil, nil
	case err != nil || obj == nil:
		return nil, err
	case obj.GetDeletionTimestamp() != nil: // its end brings the parent, whoever owns it
		return obj, p.env.Watcher.Follow(ctx, p.key, ref)
	}
	result, err := p.manager.AddOwner(ctx, obj)
	p.noteAs(EventAdopted, result)
	w.restored = w.restored || result.Changed()
	return obj, err
}

func (p *pass) stateOf(ctx context.Context, child answer.Child, live *unstructured.Unstructured) plan.State {
	switch {
	case live == nil && p.isForeground():
		return plan.Current // the cluster would delete it again
	case live == nil:
		return plan.Absent
	case live.GetDeletionTimestamp() != nil:
		return plan.Terminating
	case child.Kept:
		return plan.Current
	}
	// After an error, the apply of the child has that error, too, and it doesn't keep others from being applied.
	if unchanged, err := p.manager.Unchanged(ctx, child.Object); err == nil && unchanged {
		return plan.Current
	}
	return plan.Outdated
}

// isForeground reports whether the cluster deletes the children of the parent before the parent is gone.
func (p *pass) isForeground() bool {
	return p.isFinalizing && slices.Contains(p.seen.Parent.GetFinalizers(), metav1.FinalizerDeleteDependents)
}
