package lifecycle

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Begin returns the resource of a request if it is to be reconciled. If the resource is gone, or is paused, Begin
// returns nil and the result of the request; a pause is reported in the status. A request for another kind is a
// permanent error.
func (l *Lifecycle) Begin(ctx context.Context, req request.Request) (resource *unstructured.Unstructured, rest request.Result, err error) {
	if req.Key.Kind != l.Kind || req.Key.Name == "" {
		return nil, rest, request.Permanent(fmt.Errorf("request %s: names no resource of kind %s", req.Key, l.Kind.Kind))
	}
	resource, err = l.Manager.View().Get(ctx, req.Key)
	if failure.Is[*deploy.KindUnknownError](err) {
		resource, err = nil, nil // the kind isn't served any more; when it is served again, the engine lists its resources
	}
	if err != nil {
		return nil, rest, err
	}
	if resource == nil {
		l.Memory.Forget(req.Key)
		return nil, rest, nil
	}
	rests, rest, err := l.RestIfPaused(ctx, resource)
	if rests {
		resource = nil
	}
	return resource, rest, err
}

// RestIfPaused reports whether a resource is paused, and then reports and counts that, and returns the result of the
// request.
func (l *Lifecycle) RestIfPaused(ctx context.Context, resource *unstructured.Unstructured) (rests bool, rest request.Result, err error) {
	paused, rests := l.Paused(ctx, resource)
	if !rests {
		return false, rest, nil
	}
	count := memory.Count{Standing: standing.Paused, Version: l.version(resource)}
	l.Memory.Update(deploy.RefOf(resource), func(m *memory.Resource) { m.SetCount(count) })
	rest, err = l.Rest(ctx, resource, paused)
	return true, rest, err
}

// AddFinalizer adds a finalizer to a resource that lacks it.
func (l *Lifecycle) AddFinalizer(ctx context.Context, resource *unstructured.Unstructured, name string) error {
	if slices.Contains(resource.GetFinalizers(), name) {
		return nil
	}
	return l.Manager.AddFinalizer(ctx, resource, name)
}

// RemoveFinalizer removes a finalizer from a resource. The work before that may have taken a while, so the resource is
// read again.
func (l *Lifecycle) RemoveFinalizer(ctx context.Context, resource *unstructured.Unstructured, name string) error {
	current, err := l.Manager.View().Get(ctx, deploy.RefOf(resource))
	if err == nil && current != nil && current.GetUID() == resource.GetUID() {
		err = l.Manager.RemoveFinalizer(ctx, current, name)
	}
	if err != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

// Report writes the status at the end of a reconcile: what compute returns for the present status, if that differs,
// which compute reports by changed. compute must not change its argument. own are the conditions that the reconcile has
// reported, nil if none are declared; ends means that no more reports follow, so they are completed as by
// status.Visit.End. Report always removes the condition that reports a pause.
func (l *Lifecycle) Report(
	ctx context.Context, resource *unstructured.Unstructured, log *slog.Logger, own *Conditions, ends bool,
	compute func(present map[string]any) (next map[string]any, changed bool, err error),
) (deploy.Result, error) {
	write := (*status.Visit).Flush
	if ends {
		write = (*status.Visit).End
	}
	return l.report(ctx, resource, log, own, write, func(present map[string]any) (next map[string]any, changed bool, err error) {
		next, resumed := withoutPause(present)
		next, changed, err = compute(next)
		return next, resumed || changed, err
	})
}

// Amend writes into the status beside the reconciles of a resource, or in the middle of one, as Report does. The
// condition that reports a pause stays.
func (l *Lifecycle) Amend(
	ctx context.Context, resource *unstructured.Unstructured, log *slog.Logger, own *Conditions,
	compute func(present map[string]any) (next map[string]any, changed bool, err error),
) (deploy.Result, error) {
	return l.report(ctx, resource, log, own, (*status.Visit).Flush, compute)
}

func (l *Lifecycle) report(
	ctx context.Context, resource *unstructured.Unstructured, log *slog.Logger, own *Conditions, write writing,
	compute func(present map[string]any) (next map[string]any, changed bool, err error),
) (deploy.Result, error) {
	return l.SetStatus(ctx, resource, log, func(present map[string]any) (next map[string]any, changed bool, err error) {
		next, changed, err = compute(present)
		if err != nil {
			return nil, false, err
		}
		next, reported, err := own.over(next, write)
		return next, changed || reported, err
	})
}

// Unwritten returns the error of a reconcile whose status couldn't be written because of err, nil if writing again
// makes no sense; then err is logged.
func Unwritten(log *slog.Logger, err error) error {
	unwritten := fmt.Errorf("status not written: %w", err)
	switch after, unavailable := Unavailable(err); {
	case unavailable && after > 0:
		return request.RetryAfter(after, unwritten)
	case unavailable:
		return unwritten
	case request.Resolve(err).Passing, failure.Is[*deploy.ForbiddenError](err):
		// An API server that has just started may refuse a request that it allows a moment later. Repeated refusals are
		// reported.
		return &request.Error{Quiet: true, Err: unwritten}
	}
	log.Warn("status not written", "error", err)
	return nil
}
