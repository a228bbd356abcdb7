package controller

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/program"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
	"github.com/operkit/operkit/tools/hooks/internal/webhook"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// syncer asks the hooks of a definition about parents of one kind.
type syncer struct {
	definition *definition.Controller
	parents    definition.ParentRule
	served     Served
	hooks      Hooks
	// kinds are the kinds of children, in the order of the definition.
	kinds []schema.GroupVersionKind

	mu sync.Mutex
	// related are the kinds of related objects that a customize hook has ever returned.
	related []schema.GroupVersionKind
}

// functions returns the functions for the hooks that there are. The error is about the selectors of the definition.
func (s *syncer) functions() (f desired.Funcs[Parent], err error) {
	f.OnSync = s.sync
	if s.hooks.Finalize != nil {
		f.OnFinalize = s.finalize
	}
	if s.hooks.Customize != nil {
		f.OnRelated = s.customize
	}
	if s.definition.Style == definition.Composite {
		f.OnAdopts = s.adopts
	}
	f.OnSelects, err = selects(s.parents)
	return f, err
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

// sync asks the sync hook. Without one, the children stay as they are.
func (s *syncer) sync(r desired.Request[Parent]) (desired.Response, error) {
	if s.hooks.Sync == nil {
		var kept desired.Response
		for _, kind := range s.kinds {
			for _, child := range r.Children.Of(kind) {
				kept.Children = append(kept.Children, child)
			}
		}
		return kept, nil
	}
	return s.ask(r, s.hooks.Sync, s.definition.Hooks.Sync, false)
}

// finalize asks the finalize hook.
func (s *syncer) finalize(r desired.Request[Parent]) (desired.Response, error) {
	return s.ask(r, s.hooks.Finalize, s.definition.Hooks.Finalize, true)
}

// ask asks a hook for the children and the status.
func (s *syncer) ask(r desired.Request[Parent], hook Caller, how *definition.Hook, finalizing bool) (desired.Response, error) {
	name := "sync"
	if finalizing {
		name = "finalize"
	}
	body, err := s.request(r, finalizing).Encode(s.definition.Style, how.Version())
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	content, err := hook.Call(r.Context(), string(r.Parent.GetUID()), body)
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	answer, err := protocol.DecodeAnswer(content, s.definition.Style, how.IsStrict())
	if err == nil {
		err = s.admit(r.Parent, answer.Children)
	}
	if err != nil {
		return desired.Response{}, s.failed(name, err)
	}
	response := desired.Response{
		Finalized: finalizing && answer.Finalized, ResyncAfter: s.resync(answer.ResyncAfter),
		Labels: answer.Labels, Annotations: answer.Annotations,
	}
	for _, child := range answer.Children {
		response.Children = append(response.Children, child)
	}
	if s.definition.Style == definition.Composite {
		if answer.Status == nil {
			answer.Status = map[string]any{} // the status is replaced by what a hook returns, also by nothing
		}
		giveReasons(answer.Status)
	}
	if answer.Status != nil {
		response.Status = answer.Status
	}
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

// noReason is the reason of a condition that its hook has returned without one, which is against the conventions of
// Kubernetes.
const noReason = "Unspecified"

// giveReasons adds reasons to the conditions of a status that lack them.
func giveReasons(status map[string]any) {
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		if condition, ok := one.(map[string]any); ok && (condition["reason"] == nil || condition["reason"] == "") {
			condition["reason"] = noReason
		}
	}
}

// resync returns the sooner one of the time that the hook asks for and that of the definition.
func (s *syncer) resync(asked time.Duration) time.Duration {
	every := s.definition.ResyncSeconds
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
	err = fmt.Errorf("%s: hook %s: %w", s.definition.Name(), hook, err)
	var answered *webhook.StatusError
	if errors.As(err, &answered) && answered.RetryAfter > 0 {
		return request.RetryAfter(answered.RetryAfter, err)
	}
	var rests *program.RestError
	if errors.As(err, &rests) {
		return request.RetryAfter(rests.RetryAfter, err)
	}
	return err
}
