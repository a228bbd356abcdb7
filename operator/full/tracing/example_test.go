package tracing_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/full/tracing"
	"github.com/operkit/operkit/reconcile/request"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing does nothing.
type nothing struct{}

func (nothing) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

func Example() {
	// It traces as the environment says, by the variables OTEL_*.
	op := operator.New("shop-operator", operator.Instrument(tracing.FromEnvironment))
	_ = op
}

func ExampleNew() {
	spans := tracetest.NewSpanRecorder()
	t := tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	// An engine does this: watch.New(view, watch.Around(t.Around)).
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	if _, err := t.Around(nothing{}).Reconcile(context.Background(), request.Request{Key: request.Key{Kind: kind, Name: "tea"}, Triggers: request.Changed}); err != nil {
		fmt.Println(err)
	}
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output:
	// queue
	// reconcile
	// Shop changed
}
