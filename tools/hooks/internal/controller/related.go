package controller

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
	"k8s.io/apimachinery/pkg/labels"
)

// customize asks the customize hook which objects are related to a parent.
func (s *syncer) customize(ctx context.Context, parent *Parent) ([]desired.Selection, error) {
	how := s.definition.Hooks.Customize
	body, err := protocol.EncodeCustomize(s.definition.Object, parent)
	if err != nil {
		return nil, s.failed("customize", err)
	}
	content, err := s.hooks.Customize.Call(ctx, string(parent.GetUID()), body)
	if err != nil {
		return nil, s.failed("customize", err)
	}
	rules, err := protocol.DecodeCustomize(content, how.IsStrict())
	if err != nil {
		return nil, s.failed("customize", err)
	}
	served, err := s.served(ctx)
	if err != nil && len(served) == 0 {
		return nil, err
	}
	selections := make([]desired.Selection, len(rules))
	for i, rule := range rules {
		if selections[i], err = selectionOf(rule, how.Version(), parent, served); err != nil {
			return nil, s.failed("customize", fmt.Errorf("relatedResources[%d]: %w", i, err))
		}
		s.relate(selections[i].Kind)
	}
	return selections, nil
}

// selectionOf returns what a rule selects. In version v1, a parent with a namespace has related objects of this
// namespace only.
func selectionOf(rule protocol.Rule, version definition.Version, parent *Parent, served []deploy.ServedKind) (s desired.Selection, err error) {
	kind, err := kindOf(rule.Resource, served)
	if err != nil {
		return s, err
	}
	s = desired.Selection{Kind: kind.Kind, Namespace: rule.Namespace, Namespaces: rule.Namespaces, Names: rule.Names, Labels: rule.Labels}
	isNarrow := version == definition.V1 && parent.GetNamespace() != ""
	switch {
	case isNarrow && rule.Namespaces != nil:
		return s, fmt.Errorf("namespaceSelector: in version v1, related objects of this parent are in its namespace %s: use version v2", parent.GetNamespace())
	case isNarrow && rule.Namespace != "" && rule.Namespace != parent.GetNamespace():
		return s, fmt.Errorf("namespace %s: in version v1, related objects of this parent are in its namespace %s: use version v2", rule.Namespace, parent.GetNamespace())
	}
	s.Everywhere = !isNarrow && rule.Namespace == "" && rule.Namespaces == nil
	if len(rule.Names) == 0 && rule.Labels == nil {
		s.Labels = labels.Everything()
	}
	return s, nil
}
