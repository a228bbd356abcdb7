package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// carryOut does what makes the children the wanted ones, as far as it can be done now. changed: something was written.
func (p *pass) carryOut(ctx context.Context, wanted []answer.Child) (changed bool, err error) {
	w := p.compare(ctx, wanted)
	if w.restored {
		return true, nil
	}
	if p.history != nil { // each child is wanted as its revision has it, so that none waits for others
		for i := range w.facts {
			w.facts[i].Strategy = w.facts[i].Strategy.Alone()
		}
	}
	unknown := errors.Join(w.errs...)
	for {
		actions := plan.Of(w.facts, w.others)
		if p.waits = w.isGoing(); len(actions) == 0 {
			return false, unknown
		}
		// What was idle is as wanted, which only an apply could find out: it is the turn of the next one.
		wrote, idle, err := p.apply(ctx, w, actions)
		if err != nil || wrote || !idle {
			return wrote, errors.Join(unknown, err)
		}
	}
}

// apply does the actions: first it creates what is absent, then it applies what differs, and then, unless something has
// failed or has to go first, it deletes the others. idle: for an outdated child nothing had to be written.
func (p *pass) apply(ctx context.Context, w work, actions []plan.Action) (wrote, idle bool, err error) {
	var unwanted []*unstructured.Unstructured
	var absent, outdated []int
	for _, action := range actions {
		switch action.Verb {
		case plan.Wait:
			p.waits = true
		case plan.Delete:
			unwanted = append(unwanted, w.unwanted[action.Child])
		case plan.Create:
			absent = append(absent, action.Child)
		default:
			outdated = append(outdated, action.Child)
		}
	}
	var errs []error
	for _, places := range [][]int{absent, outdated} {
		wroteSome, idleSome, err := p.applyAll(ctx, w, places)
		wrote, idle, errs = wrote || wroteSome, idle || idleSome, append(errs, err)
	}
	isReplaced := slices.ContainsFunc(w.facts, func(fact plan.Wanted) bool { return fact.State == plan.Terminating })
	if err := errors.Join(errs...); err != nil || isReplaced || len(unwanted) == 0 {
		return wrote, idle, err
	}
	results, err := p.manager.Delete(ctx, unwanted)
	for _, result := range results {
		wrote = wrote || result.Changed()
		p.note(result)
	}
	return wrote, idle, err
}

// applyAll applies the wanted children at these places, and notes their new states.
func (p *pass) applyAll(ctx context.Context, w work, places []int) (wrote, idle bool, err error) {
	objects := make([]*unstructured.Unstructured, len(places))
	for i, place := range places {
		objects[i] = w.wanted[place].Object
	}
	results, err := p.manager.Apply(ctx, objects)
	if len(results) < len(objects) {
		return false, false, err
	}
	var errs []error
	for i, result := range results {
		wrote = wrote || result.Changed()
		p.note(result)
		if ref := w.wanted[places[i]].Ref; p.children[ref.Kind].Strategy.Rolls() {
			p.recent.note(p.key, result, p.seen.Children.At(ref), p.Now())
		}
		switch fact := &w.facts[places[i]]; {
		case result.Err == nil && !result.Changed(), p.isFinalizing && apierrors.HasStatusCause(result.Err, namespaceTerminating):
			idle, fact.State = true, plan.Current
		case isGoing(result):
			p.waits, fact.State = true, plan.Terminating
		case result.Err != nil:
			errs = append(errs, result.Err)
		}
	}
	return wrote, idle, errors.Join(errs...)
}

// namespaceTerminating is the cause with which the cluster refuses new objects in a namespace that is being deleted.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// isGoing reports whether a child is being deleted and isn't gone yet.
func isGoing(result deploy.Result) bool {
	return failure.Is[*deploy.TerminatingError](result.Err) || result.Action == deploy.Removed && failure.Is[*deploy.TimeoutError](result.Err)
}

// note records and logs what was done with a child.
func (p *pass) note(result deploy.Result) { p.noteAs(reasonOf[result.Action], result) }

// noteAs is note with a reason for the event.
func (p *pass) noteAs(reason string, result deploy.Result) {
	if !result.Changed() {
		return
	}
	p.log.Info("child "+string(result.Action), "child", result.Ref)
	p.changes.add(reason, result.Ref)
	p.noteWrite(result)
}

// noteWrite records the state that was written of an object, whose event brings no reconcile.
func (p *pass) noteWrite(result deploy.Result) {
	if result.Object != nil && result.Action != deploy.Removed {
		p.wrote = append(p.wrote, request.Revision{UID: result.Object.GetUID(), ResourceVersion: result.Object.GetResourceVersion()})
	}
}
