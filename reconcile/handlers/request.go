package handlers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Request is what a handler gets, for one call. Don't use it after the handler has returned. Its methods aren't safe
// for concurrent use.
type Request[T any] struct {
	// Ref names the object.
	Ref deploy.Ref
	// Object is the object as it was when the call began. It is a copy: to change the object in the cluster, use
	// Update.
	Object *T
	// Old is the object as it was handled last, without its status and most of its metadata. It is nil if the object is
	// new, or if it was too large to be kept; then Diff is nil, too, and a handler of Field is called if its field has
	// changed or was removed.
	Old *T
	// Cause is why a handler of On or Field is called; for a Resume handler that is called with an update it is Update.
	Cause Cause
	// Diff is what has changed since the object was handled last, sorted by path. For a handler that is about a field,
	// paths are relative to the field; a map that was absent, or is absent now, counts as empty. It is nil unless Cause
	// is Update.
	Diff []Change
	// Event is what has happened, for handlers of Seen; empty for others.
	Event deploy.EventType
	// Reported is the event that was reported about the object, for handlers of OnClusterEvent.
	Reported ClusterEvent
	// Attempt counts the calls for this cause, from 1 on. Started is when the first call began.
	Attempt int
	Started time.Time

	attempt *engine.Attempt
	// latest is the newest state that Latest has returned, nil before that.
	latest *T
}

// newRequest returns the Request of an attempt.
func newRequest[T any](a *engine.Attempt) (*Request[T], error) {
	object, err := typed.Decode[T](a.Object().Object)
	if err != nil {
		return nil, err // it is called again, since the object may be corrected
	}
	r := &Request[T]{
		Ref: a.Ref(), Object: object, Cause: causeOf(a.Reason()), Diff: a.Diff, Event: a.Event, Reported: a.Reported, attempt: a,
	}
	r.Attempt, r.Started = a.Number()
	if before := a.Before(); before != nil {
		if r.Old, err = typed.Decode[T](before); err != nil {
			a.Logger().Warn("the state of the object before can't be read: its handlers get none", "error", err)
			r.Old = nil
		}
	}
	return r, nil
}

// Logger returns the logger of the object and the handler.
func (r *Request[T]) Logger() *slog.Logger { return r.attempt.Logger() }

// Manager returns the manager that applies objects as owned by the object of the request, and whose View never returns
// what is older than its own writes.
func (r *Request[T]) Manager() (*deploy.Manager, error) { return r.attempt.Manager() }

// Apply applies objects, each an API struct, an apply configuration, or an unstructured object: they are created or
// changed by server-side apply, and owned by the object of the request, with which they are deleted. An object that is
// as it should be costs no write, and no read either if the operator watches its kind, for example by an Index. Objects
// without a namespace get that of the owner.
//
// Changes of these objects by others call no handler. To repair them, register the same function by Timer, too: it
// costs nothing while they are as they should be. To notice changes at once, register Handlers for the kind of these
// objects, with a handler of Seen that has the option OwnedBy: it gets the owner by Parent, and applies by Manager with
// deploy.OwnedBy for that.
func (r *Request[T]) Apply(ctx context.Context, objects ...any) error {
	var all []*unstructured.Unstructured
	for _, value := range objects {
		object, err := render.Object(value)
		if err != nil {
			return request.Permanent(fmt.Errorf("apply: %w", err))
		}
		all = append(all, object)
	}
	manager, err := r.Manager()
	if err != nil {
		return err
	}
	_, err = manager.Apply(ctx, all)
	return err
}

// Delete requests the deletion of the object of the request itself, such as one whose time is over. Its handlers of
// Delete are called by a later pass. An object of the same name that has taken its place stays.
func (r *Request[T]) Delete(ctx context.Context) error { return r.attempt.Delete(ctx) }

// Update changes the object: Object at once, and the object in the cluster with the writes after the call, also if the
// handler fails then. change may be called again, with a newer state of the object or with one that it has changed
// before, so it must set values and do nothing else: Size = 2, not Size++. A change outside of the status is an update,
// for which handlers are called again.
func (r *Request[T]) Update(change func(object *T)) {
	change(r.Object)
	r.attempt.Update(func(object map[string]any) (map[string]any, error) { return typed.Change(object, change) })
}

// Result sets the field of the status with the id of the handler, when the handler has succeeded. The fields of a map
// replace those of the present map; another value replaces the present one. value may be anything that encoding/json
// encodes.
func (r *Request[T]) Result(value any) error {
	content, err := plain.Value(value)
	if err != nil {
		return request.Permanent(fmt.Errorf("result: %w", err))
	}
	r.attempt.SetResult(content)
	return nil
}

// Condition reports a condition whose type is declared by Reports, of any handler of the kind. It is written with the
// status after the call. If the type isn't declared, or the API server would refuse the condition, it returns an error,
// and reports nothing.
func (r *Request[T]) Condition(conditionType string, value metav1.ConditionStatus, reason, message string) error {
	return r.attempt.Condition(conditionType, value, reason, message)
}

// Record records an event about the object, see package event. The text is as for fmt.Sprintf.
func (r *Request[T]) Record(eventType event.Type, reason, text string, args ...any) {
	r.attempt.Record(eventType, reason, text, args...)
}
