package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readHistory reads the revisions of the parent. There are none until its children have been as wanted once.
func (p *pass) readHistory(ctx context.Context) error {
	p.history, p.revisions, p.waiting = nil, nil, ""
	if len(p.Revisions) == 0 {
		return nil
	}
	if p.key.Namespace == "" {
		return p.mistake(errors.New("revisions: the parent has no namespace, which ControllerRevisions need: use Revisions for namespaced parents"))
	}
	var err error
	if p.revisions, err = p.manager.Owned(ctx, []schema.GroupVersionKind{revision.Kind}, nil); err == nil {
		p.history, err = revision.Read(p.revisions, p.membersKey)
	}
	return err
}

// revise returns the children that are wanted now: each as its revision wants it. It adds what the functions say for
// earlier revisions to the response.
func (p *pass) revise(ctx context.Context, response *Response, wanted []answer.Child) ([]answer.Child, error) {
	if p.history == nil {
		return wanted, nil
	}
	if p.isFinalizing {
		return p.frozen(wanted), nil
	}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	if err := p.recognize(ctx, wanted); err != nil {
		return nil, err
	}
	p.earlier = map[string]map[deploy.Ref]answer.Child{}
	for _, one := range p.history[:len(p.history)-1] {
		past, err := p.askAbout(ctx, one)
		if lifecycle.Interrupted(ctx) {
			return nil, err
		}
		if err != nil {
			p.log.Warn("an earlier revision of a parent can't be asked about: its children stay as they are until their turn",
				"revision", one.Number, "error", err)
			continue
		}
		response.ResyncAfter = lifecycle.Sooner(response.ResyncAfter, past.ResyncAfter)
	}
	return p.revised(wanted), nil
}

// rolls reports whether a child is updated one after the other with its group.
func (p *pass) rolls(child answer.Child) bool {
	strategy, _ := p.strategyOf(child)
	return strategy.Rolls()
}

// recognize gives the latest revision the children that are as it wants them, whoever has made them so. Children that
// the functions return unchanged stay with their revision.
func (p *pass) recognize(ctx context.Context, wanted []answer.Child) error {
	known := revision.Members{}
	for _, child := range wanted {
		live := p.seen.Children.At(child.Ref)
		if member := memberOf(child.Ref); live != nil && !child.Kept && p.rolls(child) && !p.history.IsLatest(member) {
			if p.stateOf(ctx, child, live) == plan.Current {
				known[member] = true
			}
		}
	}
	if len(known) == 0 {
		return nil
	}
	_, err := p.store(ctx, p.history.Move(known, nil))
	return err
}

// revised returns the wanted children, each as its revision wants it. One of no revision, and one that its revision
// doesn't want, stays as it is.
func (p *pass) revised(wanted []answer.Child) []answer.Child {
	revised := make([]answer.Child, len(wanted))
	for i, child := range wanted {
		revised[i] = child
		place := p.history.Of(memberOf(child.Ref))
		if !p.rolls(child) || place == len(p.history)-1 {
			continue
		}
		if place >= 0 {
			if past, isWanted := p.earlier[p.history[place].Name][child.Ref]; isWanted {
				revised[i] = past
				continue
			}
		}
		revised[i] = p.unchanged(child)
	}
	return revised
}

// frozen returns the wanted children of a parent that is finalized. Those that aren't of its present state stay as they
// are.
func (p *pass) frozen(wanted []answer.Child) []answer.Child {
	present, err := p.present()
	isLatest := err == nil && p.history.Latest().Name == present.Name
	frozen := make([]answer.Child, len(wanted))
	for i, child := range wanted {
		frozen[i] = child
		if p.rolls(child) && !(isLatest && p.history.IsLatest(memberOf(child.Ref))) {
			frozen[i] = p.unchanged(child)
		}
	}
	return frozen
}

// unchanged returns a child that stays as it is. One that doesn't exist is created as it is wanted.
func (p *pass) unchanged(child answer.Child) answer.Child {
	if live := p.seen.Children.At(child.Ref); live != nil {
		return answer.Child{Ref: child.Ref, Object: live, Kept: true}
	}
	return child
}

func memberOf(child deploy.Ref) revision.Member {
	return revision.Member{Kind: child.Kind.GroupKind(), Name: child.Name}
}

// askAbout asks the functions about the parent as it was in a revision.
func (p *pass) askAbout(ctx context.Context, one revision.Revision) (response Response, err error) {
	if len(one.Paths) == 0 {
		return response, fmt.Errorf("ControllerRevision %s: its data has no paths", one.Name)
	}
	content, err := revision.At(p.seen.Parent.Object, one.Patch, one.Paths)
	if err != nil {
		return response, err
	}
	seen := p.seen
	seen.Parent = &unstructured.Unstructured{Object: content}
	if seen.Related, err = p.relatives(ctx, seen.Parent); err != nil {
		return response, err
	}
	stage := p.stage
	response, wanted, err := p.ask(ctx, seen)
	p.stage = stage
	if err != nil {
		return response, err
	}
	children := make(map[deploy.Ref]answer.Child, len(wanted))
	for _, child := range wanted {
		children[child.Ref] = child
	}
	p.earlier[one.Name] = children
	return response, nil
}
