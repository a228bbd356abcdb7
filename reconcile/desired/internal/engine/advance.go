package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// advance gives the children whose turn it is to the latest revision, and updates them. It is called when all children
// are as their revisions want them or, isFailed, can't be made so. Without a history it writes the first revision, once
// all children are as wanted.
func (p *pass) advance(ctx context.Context, wanted []answer.Child, isFailed bool) (changed bool, err error) {
	if len(p.Revisions) == 0 || p.isFinalizing || p.history == nil && (p.waits || isFailed) {
		return false, nil
	}
	if p.history == nil {
		return true, p.beginHistory(ctx, wanted)
	}
	gone := p.gone(wanted)
	if len(gone) == 0 && !p.isRolling(wanted) {
		return false, nil
	}
	w := p.compare(ctx, wanted)
	if w.restored {
		return true, nil
	}
	turns, waits := p.turns(w)
	if changed, err = p.store(ctx, p.history.Move(turns, gone)); err != nil {
		return changed, err
	}
	if len(turns) > 0 {
		_, err = p.carryOut(ctx, p.revised(wanted))
		return true, err
	}
	p.waiting = p.describe(w, waits)
	p.waits = p.waits || p.waiting != ""
	return changed, nil
}

// isRolling reports whether a wanted child doesn't belong to the latest revision yet.
func (p *pass) isRolling(wanted []answer.Child) bool {
	return slices.ContainsFunc(wanted, func(child answer.Child) bool {
		return p.rolls(child) && !p.history.IsLatest(memberOf(child.Ref))
	})
}

// beginHistory writes the first revision, to which all children belong.
func (p *pass) beginHistory(ctx context.Context, wanted []answer.Child) error {
	present, err := p.present()
	if err != nil {
		return err
	}
	all := revision.Members{}
	for _, child := range wanted {
		if p.rolls(child) {
			all[memberOf(child.Ref)] = true
		}
	}
	_, err = p.store(ctx, revision.History{}.Begin(present).Move(all, nil))
	return err
}

// gone returns the children of revisions that aren't wanted or rolled any more.
func (p *pass) gone(wanted []answer.Child) revision.Members {
	rolled := revision.Members{}
	for _, child := range wanted {
		rolled[memberOf(child.Ref)] = p.rolls(child)
	}
	gone := revision.Members{}
	for _, one := range p.history {
		for member := range one.Children {
			if !rolled[member] {
				gone[member] = true
			}
		}
	}
	return gone
}

// turns returns the children that move to the latest revision now, and the waits of others.
//
// No child moves while one that has moved isn't healthy, not even one that isn't healthy either: that may just begin to
// work as it did before.
func (p *pass) turns(w work) (turns revision.Members, waits []plan.Action) {
	turns = revision.Members{}
	untested := p.untested(w)
	for _, action := range plan.Of(w.facts, nil) {
		fact, member := w.facts[action.Child], memberOf(w.wanted[action.Child].Ref)
		if !fact.Strategy.Rolls() || p.history.IsLatest(member) || action.Verb == plan.Create {
			continue
		}
		holder, isHeld := untested[fact.Group]
		switch {
		case isHeld:
			waits = append(waits, plan.Action{Verb: plan.Wait, Child: action.Child, For: holder})
		case action.Verb == plan.Wait:
			waits = append(waits, action)
		default:
			turns[member] = true
		}
	}
	return turns, waits
}

// untested returns the first child of each group that has moved to the latest revision and isn't healthy.
func (p *pass) untested(w work) map[int]int {
	untested := map[int]int{}
	for i, fact := range w.facts {
		if !fact.Strategy.Rolls() {
			continue
		}
		isTested := fact.State == plan.Current && fact.Healthy
		if _, known := untested[fact.Group]; !known && !isTested && p.history.IsLatest(memberOf(w.wanted[i].Ref)) {
			untested[fact.Group] = i
		}
	}
	return untested
}

// describe returns a sentence about the first child that waits and the child that it waits for, empty if none waits.
func (p *pass) describe(w work, waits []plan.Action) string {
	if len(waits) > 0 {
		child, other := w.wanted[waits[0].Child].Ref, w.wanted[waits[0].For].Ref
		if child == other {
			return fmt.Sprintf("%s %s is being deleted", child.Kind.Kind, child.Name)
		}
		return fmt.Sprintf("%s %s waits for %s %s", child.Kind.Kind, child.Name, other.Kind.Kind, other.Name)
	}
	for i, fact := range w.facts {
		child := w.wanted[i].Ref
		if fact.Strategy.Rolls() && fact.State != plan.Current && !p.history.IsLatest(memberOf(child)) {
			return fmt.Sprintf("%s %s: %s", child.Kind.Kind, child.Name, stateText(fact.State, errors.Join(w.errs...)))
		}
	}
	return ""
}

func stateText(state plan.State, err error) string {
	if state == plan.Unknown && err != nil {
		return err.Error()
	}
	return "it can't be updated"
}

// The condition of a parent with revisions, see package desired.
const (
	conditionUpdated = "Updated"
	reasonLatest     = "OnLatestRevision"
	reasonWaiting    = "RolloutWaiting"
)

// updated returns the condition of a parent with revisions, nil for none.
func (p *pass) updated() *metav1.Condition {
	switch {
	case p.history == nil || p.isFinalizing:
		return nil
	case p.waiting == "":
		return &metav1.Condition{
			Type: conditionUpdated, Status: metav1.ConditionTrue, Reason: reasonLatest,
			Message: fmt.Sprintf("no child waits for an update to revision %d", p.history.Latest().Number),
		}
	}
	return &metav1.Condition{Type: conditionUpdated, Status: metav1.ConditionFalse, Reason: reasonWaiting, Message: p.waiting}
}
