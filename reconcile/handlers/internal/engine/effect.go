package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Manager returns the manager that applies objects as owned by the object.
func (a *Attempt) Manager() (*deploy.Manager, error) {
	return a.work.Manager.With(deploy.OwnedBy(a.work.object))
}

// Update adds a change of the object, which is made with the writes after the call. It doesn't change its argument, and
// may be called several times.
func (a *Attempt) Update(apply func(object map[string]any) (map[string]any, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.updates = append(a.updates, update{a.Handler.ID, func(object map[string]any) (map[string]any, error) {
		return failure.Value(func() (map[string]any, error) { return apply(object) })
	}})
}

// SetResult sets the field of the status with the id of the handler, if the handler succeeds. value is in the form of
// unstructured objects.
func (a *Attempt) SetResult(value any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result, a.hasResult = value, true
}

// Condition reports a condition. It is an error if no handler declares it, or if the API server would refuse it.
func (a *Attempt) Condition(conditionType string, value metav1.ConditionStatus, reason, message string) error {
	if !slices.ContainsFunc(a.work.Declared(), func(d status.Declared) bool { return d.Type == conditionType }) {
		return request.Permanent(fmt.Errorf("condition %q: no handler declares it: declare it by the option Reports", conditionType))
	}
	if err := status.Validate(metav1.Condition{Type: conditionType, Status: value, Reason: reason}); err != nil {
		return request.Permanent(err)
	}
	a.work.report(func(c *lifecycle.Conditions) { c.Set(conditionType, value, reason, message) })
	return nil
}

// Record records an event about the object. The text is as for fmt.Sprintf.
func (a *Attempt) Record(eventType event.Type, reason, text string, args ...any) {
	a.work.recordEvent(a.work.object, eventType, reason, text, args...)
}

// Delete requests the deletion of the object, unless another one has its name.
func (a *Attempt) Delete(ctx context.Context) error {
	err := a.work.Manager.Port().Delete(ctx, a.work.ref, deploy.DeleteOptions{UID: a.work.object.GetUID()})
	if failure.Is[*deploy.NotFoundError](err) || failure.Is[*deploy.StaleError](err) {
		return nil // it is gone already
	}
	return err
}

// Parent returns the owner of the kind that the filter of the handler names, nil if it doesn't exist.
func (a *Attempt) Parent(ctx context.Context) (*unstructured.Unstructured, error) {
	ref, ok := selection.ParentOf(a.work.object.Object, a.Handler.Filter.Parent)
	if !ok {
		return nil, nil
	}
	manager := a.work.Manager
	scope, err := manager.Port().Scope(ctx, ref.Kind)
	if err != nil {
		return nil, fmt.Errorf("parent %s: %w", ref, err)
	}
	if scope != deploy.Namespaced {
		ref.Namespace = ""
	}
	parent, err := manager.View().Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("parent %s: %w", ref, err)
	}
	return parent, nil
}
