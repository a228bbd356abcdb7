package engine

import (
	"context"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// work is what is to be done with the children.
type work struct {
	wanted   []answer.Child
	facts    []plan.Wanted
	unwanted []*unstructured.Unstructured
	others   []plan.Unwanted
}

// compare finds out which children differ from the wanted ones.
func (p *pass) compare(ctx context.Context, wanted []answer.Child) (w work) {
	w.wanted, w.facts = wanted, make([]plan.Wanted, len(wanted))
	isWanted := make(map[deploy.Ref]bool, len(wanted))
	rolling := map[int]bool{}
	for i, child := range wanted {
		isWanted[child.Ref] = true
		fact := plan.Wanted{Group: p.places[child.Ref.Kind], Strategy: p.children[child.Ref.Kind].Strategy}
		fact.State = p.stateOf(ctx, child)
		rolling[fact.Group] = rolling[fact.Group] || fact.Strategy.Rolls() && fact.State == plan.Outdated
		w.facts[i] = fact
	}
	for i, child := range wanted {
		if obj := p.seen.Children.At(child.Ref); obj != nil && rolling[w.facts[i].Group] {
			w.facts[i].Healthy = p.children[child.Ref.Kind].Healthy(obj)
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

func (p *pass) stateOf(ctx context.Context, child answer.Child) plan.State {
	obj := p.seen.Children.At(child.Ref)
	switch {
	case obj == nil && p.isForeground():
		return plan.Current // the cluster would delete it again
	case obj == nil:
		return plan.Absent
	case obj.GetDeletionTimestamp() != nil:
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
	return p.isDeleting && slices.Contains(p.seen.Parent.GetFinalizers(), metav1.FinalizerDeleteDependents)
}
