package composite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
	"github.com/operkit/operkit/tools/hooks/internal/webhook"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// generatedLabel is the label of children with the uid of their parent, if the definition generates selectors.
const generatedLabel = "controller-uid"

// syncer asks the hooks of a definition.
type syncer struct {
	definition *definition.Composite
	served     Served
	hooks      Hooks
	// kinds are the kinds of children, in the order of the definition.
	kinds []schema.GroupVersionKind

	mu sync.Mutex
	// related are the kinds of related objects that a customize hook has ever returned.
	related []schema.GroupVersionKind
}

// relate notes a kind of related objects. Requests have each of these kinds, also without objects.
func (s *syncer) relate(kind schema.GroupVersionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.related, kind) {
		s.related = append(slices.Clone(s.related), kind)
	}
}

// relations returns the kinds of related objects. The result is never changed.
func (s *syncer) relations() []schema.GroupVersionKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.related
}

// finalizer and relater have the methods for hooks that a definition need not have.
type (
	finalizer struct{ of *syncer }
	relater   struct{ of *syncer }
)

// Sync implements desired.Syncer. Without a sync hook, the children stay as they are.
func (s *syncer) Sync(r desired.Request[Parent]) (desired.Response, error) {
	if s.hooks.Sync == nil {
		var kept desired.Response
		for _, kind := range s.kinds {
			for _, child := range r.Children.Of(kind) {
				kept.Children = append(kept.Children, child)
			}
		}
		return kept, nil
	}
	return s.ask(r, s.hooks.Sync, s.definition.Spec.Hooks.Sync, false)
}

// Finalize implements desired.Finalizer.
func (f finalizer) Finalize(r desired.Request[Parent]) (desired.Response, error) {
	return f.of.ask(r, f.of.hooks.Finalize, f.of.definition.Spec.Hooks.Finalize, true)
}

// ask asks a hook for the children and the status.
func (s *syncer) ask(r desired.Request[Parent], hook Caller, how *definition.Hook, finalizing bool) (desired.Response, error) {
	name := "sync"
	if finalizing {
		name = "finalize"
	}
	body, err := s.request(r, finalizing).Encode(protocol.Composite, how.Version())
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	content, err := hook.Call(r.Context(), string(r.Parent.GetUID()), body)
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	answer, err := protocol.DecodeAnswer(content, protocol.Composite, how.IsStrict())
	if err == nil {
		err = s.admit(r.Parent, answer.Children)
	}
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	response := desired.Response{Finalized: finalizing && answer.Finalized, ResyncAfter: s.resync(answer.ResyncAfter)}
	for _, child := range answer.Children {
		response.Children = append(response.Children, child)
	}
	if answer.Status == nil {
		answer.Status = map[string]any{} // the status is replaced by what a hook returns, also by nothing
	}
	response.Status = answer.Status
	return response, nil
}

func (s *syncer) request(r desired.Request[Parent], finalizing bool) protocol.Request {
	asked := protocol.Request{Controller: s.definition.Object, Parent: r.Parent, Finalizing: finalizing}
	for _, kind := range s.kinds {
		asked.Children = append(asked.Children, protocol.Group{Kind: kind, Objects: r.Children.Of(kind)})
	}
	for _, kind := range s.relations() {
		asked.Related = append(asked.Related, protocol.Group{Kind: kind, Objects: r.Related.Of(kind)})
	}
	return asked
}

// resync returns the sooner one of the time that the hook asks for and that of the definition.
func (s *syncer) resync(asked time.Duration) time.Duration {
	every := s.definition.Spec.ResyncSeconds
	if every == nil || *every == 0 {
		return asked
	}
	period := time.Duration(*every) * time.Second
	if asked == 0 {
		return period
	}
	return min(asked, period)
}

// failed returns the error of a hook. What a hook asks to wait counts.
func (s *syncer) failed(hook string, err error) error {
	err = fmt.Errorf("CompositeController %s: hook %s: %w", s.definition.Object.GetName(), hook, err)
	var answered *webhook.StatusError
	if errors.As(err, &answered) && answered.RetryAfter > 0 {
		return request.RetryAfter(answered.RetryAfter, err)
	}
	return err
}

// admit adds the generated label to children. It returns an error for a child of a kind that isn't declared, and for
// one that its parent doesn't select: the parent would lose it at once.
func (s *syncer) admit(parent *Parent, children []*unstructured.Unstructured) error {
	selector, err := s.selector(parent)
	if err != nil {
		return err
	}
	chosen, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return err
	}
	for i, child := range children {
		if kind := child.GroupVersionKind(); !slices.Contains(s.kinds, kind) {
			return fmt.Errorf("children[%d]: %s %s of %s: spec.childResources doesn't have this kind: add its resource in this version", i, kind.Kind, child.GetName(), kind.GroupVersion())
		}
		if s.definition.Spec.GenerateSelector {
			all := child.GetLabels()
			if all[generatedLabel] == "" {
				all = labels.Merge(all, labels.Set{generatedLabel: string(parent.GetUID())})
			}
			child.SetLabels(all)
		}
		if !chosen.Matches(labels.Set(child.GetLabels())) {
			return fmt.Errorf("children[%d]: %s %s: its labels don't match the selector of the parent, %s", i, child.GetKind(), child.GetName(), chosen)
		}
	}
	return nil
}

// Adopts implements desired.Adopter.
func (s *syncer) Adopts(_ context.Context, parent *Parent) (*metav1.LabelSelector, error) {
	return s.selector(parent)
}

// selector returns the selector of the children of a parent.
func (s *syncer) selector(parent *Parent) (*metav1.LabelSelector, error) {
	if s.definition.Spec.GenerateSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{generatedLabel: string(parent.GetUID())}}, nil
	}
	selector := &metav1.LabelSelector{}
	content, found, err := unstructured.NestedMap(parent.Object, "spec", "selector")
	if err == nil && found {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, selector, true)
	}
	if err != nil {
		return nil, request.Permanent(fmt.Errorf("spec.selector: %w", err))
	}
	if len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
		return nil, request.Permanent(errors.New("spec.selector: needs matchLabels or matchExpressions, or generateSelector in the CompositeController"))
	}
	return selector, nil
}
