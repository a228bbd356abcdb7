package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// advance gives the children whose turn it is to the latest revision, once all children are as their revisions want
// them. Without revisions, it writes the first one.
func (p *pass) advance(ctx context.Context, wanted []answer.Child) (changed bool, err error) {
	if len(p.Revisions) == 0 || p.isFinalizing || p.history == nil && p.waits {
		return false, nil
	}
	if p.history == nil {
		return true, p.begin(ctx)
	}
	if len(p.history) == 1 {
		return false, nil
	}
	w := p.compare(ctx, wanted)
	if err := errors.Join(w.errs...); err != nil || w.restored {
		return w.restored, err
	}
	moved, waits := p.moves(w)
	if changed, err = p.keep(ctx, p.history.Move(moved)); err != nil {
		return changed, err
	}
	if changed {
		_, err = p.carryOut(ctx, p.revised(wanted))
		return true, err
	}
	p.waits = p.waits || len(p.history) > 1
	if waits != nil {
		child, other := w.wanted[waits.Child].Ref, w.wanted[waits.For].Ref
		p.turn = fmt.Sprintf("%s %s waits for %s %s", child.Kind.Kind, child.Name, other.Kind.Kind, other.Name)
	}
	return false, nil
}

// moves returns the children that become those of the latest revision now: those whose turn it is, those that are as it
// wants them already, and those that aren't rolled any more. waits is the first wait of others, nil for none.
//
// No child moves while one that has moved isn't healthy, not even one that isn't healthy either: what the latest
// revision has broken, it must not break again.
func (p *pass) moves(w work) (moved revision.Members, waits *plan.Action) {
	moved = revision.Members{}
	untested, isRolled := map[int]int{}, map[revision.Member]bool{}
	for i, child := range w.wanted {
		member, fact := memberOf(child.Ref), w.facts[i]
		isRolled[member] = fact.Strategy.Rolls()
		moved[member] = fact.State == plan.Current
		if isRolled[member] && p.history.Past(member) < 0 && !(fact.State == plan.Current && fact.Healthy) {
			untested[fact.Group] = i
		}
	}
	for _, one := range p.history {
		for member := range one.Children {
			moved[member] = moved[member] || !isRolled[member]
		}
	}
	for _, action := range plan.Of(w.facts, nil) {
		member := memberOf(w.wanted[action.Child].Ref)
		first, isHeld := untested[w.facts[action.Child].Group]
		switch {
		case p.history.Past(member) < 0:
			continue
		case isHeld:
			action.Verb, action.For = plan.Wait, first
		case action.Verb != plan.Wait:
			moved[member] = true
		}
		if action.Verb == plan.Wait && waits == nil {
			waits = &action
		}
	}
	return moved, waits
}

// conditionUpdated is the type of the condition of a parent with revisions, see package desired.
const conditionUpdated = "Updated"

// updated returns the condition of a parent with revisions, nil for none.
func (p *pass) updated() *metav1.Condition {
	switch {
	case p.history == nil || p.isFinalizing:
		return nil
	case len(p.history) == 1:
		return &metav1.Condition{
			Type: conditionUpdated, Status: metav1.ConditionTrue, Reason: "OnLatestRevision",
			Message: fmt.Sprintf("all children are of revision %d", p.history.Latest()),
		}
	}
	return &metav1.Condition{Type: conditionUpdated, Status: metav1.ConditionFalse, Reason: "RolloutWaiting", Message: p.turn}
}

// keep makes the history the given one. A revision is written before those after it, so that after any write each child
// belongs to a revision.
func (p *pass) keep(ctx context.Context, next revision.History) (changed bool, err error) {
	kept := map[string]bool{}
	for _, one := range next {
		kept[one.Name] = true
		results, err := p.manager.Apply(ctx, []*unstructured.Unstructured{one.Object(p.key.Namespace, p.membersKey)})
		changed = p.noteRevision(results) || changed
		if err != nil {
			return changed, fmt.Errorf("revision %d: %w", one.Number, err)
		}
	}
	var superfluous []*unstructured.Unstructured
	for _, obj := range p.revisions {
		if !kept[obj.GetName()] && obj.GetDeletionTimestamp() == nil {
			superfluous = append(superfluous, obj)
		}
	}
	p.history = next
	if len(superfluous) == 0 {
		return changed, nil
	}
	results, err := p.manager.Delete(ctx, superfluous)
	return p.noteRevision(results) || changed, err
}

// noteRevision logs what was done with revisions.
func (p *pass) noteRevision(results deploy.Results) (changed bool) {
	for _, result := range results {
		if !result.Changed() {
			continue
		}
		changed = true
		p.log.Info("revision "+string(result.Action), "revision", result.Ref)
		p.noteWrite(result)
	}
	return changed
}
