package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// readHistory reads the revisions of the parent. There are none until its children have been as wanted once.
func (p *pass) readHistory(ctx context.Context) error {
	p.history, p.turn, p.earlier = nil, "", map[string]map[deploy.Ref]answer.Child{}
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

// revise returns the children that are wanted now: those that belong to an earlier revision of the parent are as the
// functions want them for that one. It adds what the functions say for earlier revisions to the response.
func (p *pass) revise(ctx context.Context, response *Response, wanted []answer.Child) ([]answer.Child, error) {
	if p.history == nil {
		return wanted, nil
	}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	for _, one := range p.history[:len(p.history)-1] {
		past, err := p.askAbout(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("revision %d: %w", one.Number, err)
		}
		response.ResyncAfter = lifecycle.Sooner(response.ResyncAfter, past.ResyncAfter)
		response.Finalized = response.Finalized && past.Finalized
	}
	return p.revised(wanted), nil
}

// revised returns the wanted children, each as its revision wants it. One that its revision doesn't want stays as it is.
func (p *pass) revised(wanted []answer.Child) []answer.Child {
	revised := make([]answer.Child, len(wanted))
	for i, child := range wanted {
		revised[i] = child
		place := p.pastOf(child)
		if place < 0 {
			continue
		}
		past, isWanted := p.earlier[p.history[place].Name][child.Ref]
		if live := p.seen.Children.At(child.Ref); isWanted {
			revised[i] = past
		} else if live != nil {
			revised[i] = answer.Child{Ref: child.Ref, Object: live, Kept: true}
		}
	}
	return revised
}

// pastOf returns the place of the earlier revision that a child belongs to, negative if it is rolled with the latest one
// or not at all.
func (p *pass) pastOf(child answer.Child) int {
	if strategy, _ := p.strategyOf(child); !strategy.Rolls() {
		return -1
	}
	return p.history.Past(memberOf(child.Ref))
}

func memberOf(child deploy.Ref) revision.Member {
	return revision.Member{Kind: child.Kind.GroupKind(), Name: child.Name}
}

// begin begins a revision if the fields of the parent have changed.
func (p *pass) begin(ctx context.Context) error {
	patch, err := revision.Patch(p.seen.Parent.Object, p.Revisions)
	if err != nil && p.isFinalizing {
		return nil
	}
	if err != nil {
		return p.mistake(fmt.Errorf("revisions: %w", err))
	}
	by := p.seen.Parent.GetUID() + "/" + types.UID(p.Manager.FieldManager()) // others may keep revisions of the same parent
	name, err := revision.Name(p.Kind.Group, strings.ToLower(p.Kind.Kind), by, patch)
	if err != nil {
		return err
	}
	var existing []revision.Member
	for _, kind := range p.kinds {
		if !p.children[kind].Strategy.Rolls() {
			continue
		}
		for _, child := range p.seen.Children.Of(kind) {
			existing = append(existing, memberOf(deploy.RefOf(child)))
		}
	}
	_, err = p.keep(ctx, p.history.Begin(name, patch, existing))
	return err
}

// askAbout asks the functions about the parent as it was in a revision.
func (p *pass) askAbout(ctx context.Context, one revision.Revision) (response Response, err error) {
	seen := p.seen
	content, err := revision.Over(p.seen.Parent.Object, one.Patch, p.Revisions)
	if err != nil {
		return response, p.mistake(err)
	}
	seen.Parent = &unstructured.Unstructured{Object: content}
	if seen.Related, err = p.relatives(ctx, seen.Parent); err != nil {
		return response, err
	}
	response, wanted, err := p.ask(ctx, seen)
	children := make(map[deploy.Ref]answer.Child, len(wanted))
	for _, child := range wanted {
		children[child.Ref] = child
	}
	p.earlier[one.Name] = children
	return response, err
}
