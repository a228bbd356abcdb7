package tracing

import (
	"context"
	"log/slog"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/operkit/operkit/operator/full/tracing"

// Tracing makes spans. It is safe for concurrent use.
type Tracing struct {
	provider trace.TracerProvider
	tracer   trace.Tracer
}

// New returns a Tracing that makes its spans with provider.
func New(provider trace.TracerProvider) *Tracing {
	return &Tracing{provider: provider, tracer: provider.Tracer(scope)}
}

// Around is for watch.Around: it makes a trace of each reconcile. The trace begins at the first event that caused the
// reconcile.
func (t *Tracing) Around(next watch.Reconciler) watch.Reconciler { return traced{next, t} }

type traced struct {
	next watch.Reconciler
	*Tracing
}

// Reconcile implements watch.Reconciler.
func (t traced) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	came := trace.WithTimestamp(time.Now().Add(-req.Waited))
	ctx, event := t.tracer.Start(ctx, req.Key.Kind.Kind+" "+req.Triggers.String(), trace.WithNewRoot(), came, trace.WithAttributes(
		attribute.String("k8s.namespace.name", req.Key.Namespace), attribute.String("operkit.kind", req.Key.Kind.Kind),
		attribute.String("operkit.group", req.Key.Kind.Group), attribute.String("operkit.name", req.Key.Name),
		attribute.String("operkit.triggers", req.Triggers.String()), attribute.Int("operkit.attempt", req.Attempt),
	))
	defer event.End()
	_, queue := t.tracer.Start(ctx, "queue", came)
	queue.End()
	if event.IsRecording() {
		logging.Annotate(ctx, slog.String("trace_id", event.SpanContext().TraceID().String()))
	}
	ctx, session := t.tracer.Start(ctx, "reconcile")
	returned := false
	defer func() { ended(session, returned) }()
	result, err = t.next.Reconcile(ctx, req)
	returned = true
	session.SetAttributes(attribute.String("operkit.requeue_after", result.RequeueAfter.String()))
	failed(session, err)
	return result, err
}

// Component is for reconcile.AroundComponents: it makes a span of each step of a component.
func (t *Tracing) Component(ctx context.Context, c *reconcile.Component, step reconcile.Step, do func(ctx context.Context) error) error {
	ctx, span := t.tracer.Start(ctx, string(step)+" "+c.Name(), trace.WithAttributes(
		attribute.String("operkit.component", c.Name()), attribute.String("operkit.step", string(step)), attribute.Bool("operkit.disabled", c.Disabled()),
	))
	returned := false
	defer func() { ended(span, returned) }()
	err := do(ctx)
	returned = true
	if request.IsWaiting(err) {
		span.SetAttributes(attribute.String("operkit.waits", err.Error()))
		return err
	}
	failed(span, err)
	return err
}

// ended ends the span of a call that has returned or panicked.
func ended(span trace.Span, returned bool) {
	if !returned {
		span.SetStatus(codes.Error, "it panicked")
	}
	span.End()
}

func failed(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
}
