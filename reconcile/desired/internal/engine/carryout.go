package engine

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// carryOut does what makes the children the wanted ones, as far as it can be done now. changed: something was written.
func (p *pass) carryOut(ctx context.Context, wanted []answer.Child) (changed bool, err error) {
	w := p.compare(ctx, wanted)
	for {
		actions := plan.Of(w.facts, w.others)
		if p.waits = false; len(actions) == 0 {
			return changed, nil
		}
		wrote, idle, err := p.apply(ctx, w, actions)
		changed = changed || wrote
		if err != nil {
			return changed, err
		}
		if len(idle) == 0 || wrote {
			return changed, err
		}
		// It is as wanted, which only an apply could find out: it is the turn of the next one.
		for _, place := range idle {
			w.facts[place].State = plan.Current
		}
	}
}

// apply does the actions: first it applies what is wanted, and then, unless something has failed or has to go first, it
// deletes the others. idle are the places of outdated children for which nothing had to be written.
func (p *pass) apply(ctx context.Context, w work, actions []plan.Action) (wrote bool, idle []int, err error) {
	var objects, unwanted []*unstructured.Unstructured
	var places []int
	for _, action := range actions {
		switch action.Verb {
		case plan.Wait:
			p.waits = true
		case plan.Delete:
			unwanted = append(unwanted, w.unwanted[action.Child])
		default:
			objects, places = append(objects, w.wanted[action.Child].Object), append(places, action.Child)
		}
	}
	results, err := p.manager.Apply(ctx, objects)
	if len(results) < len(objects) {
		return true, nil, err
	}
	var errs []error
	for i, result := range results {
		wrote = wrote || result.Changed()
		p.note(result)
		switch {
		case result.Err == nil && !result.Changed():
			idle = append(idle, places[i])
		case isGoing(result):
			p.waits, wrote = true, true
			unwanted = nil
		case result.Err != nil:
			errs = append(errs, result.Err)
		}
	}
	if err := errors.Join(errs...); err != nil || len(unwanted) == 0 {
		return wrote, idle, err
	}
	results, err = p.manager.Delete(ctx, unwanted)
	for _, result := range results {
		wrote = wrote || result.Changed()
		p.note(result)
	}
	return wrote, idle, err
}

// isGoing reports whether a child is being deleted and isn't gone yet.
func isGoing(result deploy.Result) bool {
	return failure.Is[*deploy.TerminatingError](result.Err) || result.Action == deploy.Removed && failure.Is[*deploy.TimeoutError](result.Err)
}

// note records and logs what was done with a child.
func (p *pass) note(result deploy.Result) {
	if !result.Changed() {
		return
	}
	p.log.Info("child "+string(result.Action), "child", result.Ref)
	if result.Object == nil || result.Action == deploy.Removed {
		return
	}
	if p.wrote == nil {
		p.wrote = map[types.UID]string{}
	}
	p.wrote[result.Object.GetUID()] = result.Object.GetResourceVersion()
}
