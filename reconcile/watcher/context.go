package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// Logger returns the logger of the call that ctx belongs to: it has the object, the watcher and the action as
// attributes, and the levels that annotations of the object set. Outside of a call it returns slog.Default.
func Logger(ctx context.Context) *slog.Logger {
	if a := attemptOf(ctx); a != nil {
		return a.log(ctx)
	}
	return slog.Default()
}

// Record records an event about the object of the call that ctx belongs to, see package event. The text is as for
// fmt.Sprintf. Outside of a call, and in a program that records no events, it does nothing.
func Record(ctx context.Context, eventType event.Type, reason, text string, args ...any) {
	if a := attemptOf(ctx); a != nil {
		a.recordEvent(eventType, reason, text, args...)
	}
}

// SetStatus writes the status of the object of the call that ctx belongs to. change gets a copy of the object as it is
// in the cluster, and sets fields of its status, or conditions by status.Conditions; what else it changes is ignored.
// It may be called again, with a newer state, so it must do nothing else. Nothing is written if the status stays as it
// is, or if the object is gone. The write itself doesn't lead to another call. The watcher needs the option
// WritesStatus, and the kind the status subresource. T is that of the watcher.
func SetStatus[T any](ctx context.Context, change func(object *T)) error {
	a := attemptOf(ctx)
	switch {
	case a == nil:
		return request.Permanent(errors.New("set status: called outside of a watcher: pass on the context of its call"))
	case !a.member.writesStatus && !a.settings.writesStatus:
		return request.Permanent(fmt.Errorf("set status: watcher %q doesn't declare it: use the option WritesStatus", a.member.name))
	}
	return a.setStatus(ctx, func(object map[string]any) (map[string]any, error) { return typed.Change(object, change) })
}

func (a *attempt) setStatus(ctx context.Context, change func(object map[string]any) (map[string]any, error)) error {
	base := ""
	result, err := a.Manager.SetStatus(ctx, a.ref, func(current *work.Object) (map[string]any, error) {
		base = current.GetResourceVersion()
		present, _ := current.Object["status"].(map[string]any)
		if current.GetUID() != a.object.GetUID() {
			return present, nil
		}
		next, err := change(current.Object)
		if err != nil {
			return nil, err
		}
		status, _ := next["status"].(map[string]any)
		return status, nil
	})
	switch {
	case failure.Is[*deploy.NotFoundError](err):
		return nil
	case err == nil && result.Object != nil && result.Object.GetUID() == a.object.GetUID():
		a.wrote(base, result.Object)
	}
	return err
}
