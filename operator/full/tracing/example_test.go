package tracing_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/full/tracing"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing does nothing.
type nothing struct{}

func (nothing) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

// It traces as the environment says, by the variables OTEL_*.
func ExampleFromEnvironment() {
	op := operator.New("shop-operator", operator.Extend(tracing.FromEnvironment))
	op.Control(shops{})

	for _, exporter := range []string{"none", "console"} {
		if err := os.Setenv("OTEL_TRACES_EXPORTER", exporter); err != nil {
			log.Fatal(err)
		}
		extension, err := tracing.FromEnvironment(context.Background(), operator.Process{Operator: "shop-operator", Runs: true, Logger: slog.Default()})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(exporter, extension.Transport != nil)
		if extension.Close != nil {
			fmt.Println(extension.Close(context.Background()))
		}
	}
	_ = os.Unsetenv("OTEL_TRACES_EXPORTER")
	// Output:
	// none false
	// console true
	// <nil>
}

func ExampleNew() {
	spans := tracetest.NewSpanRecorder()
	t := tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	// An engine does this: watch.New(view, watch.Around(t.Around)).
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	if _, err := t.Around(nothing{}).Reconcile(context.Background(), request.Request{Key: deploy.Ref{Kind: kind, Name: "tea"}, Triggers: request.Changed}); err != nil {
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

// shops controls resources that consist of one component.
type shops struct{}

func (shops) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
}

func (shops) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("sign", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}})
	return nil
}

// The steps of each component become spans, and so do the requests that are sent while a span is in the context.
func ExampleTracing() {
	spans := tracetest.NewSpanRecorder()
	t := tracing.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	tea := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Shop", "metadata": map[string]any{"namespace": "shop", "name": "tea"},
	}}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		log.Fatal(err)
	}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		log.Fatal(err)
	}
	reconciler, err := reconcile.New(shops{}, manager, reconcile.AroundComponents(t.Component))
	if err != nil {
		log.Fatal(err)
	}
	key := deploy.Ref{Kind: shops{}.Kind(), Namespace: "shop", Name: "tea"}
	if _, err := t.Around(reconciler).Reconcile(context.Background(), request.Request{Key: key, Triggers: request.Changed}); err != nil {
		log.Fatal(err)
	}
	client := http.Client{Transport: t.Transport(answering(http.StatusOK))} // of a rest.Config: config.Wrap(t.Transport)
	ctx, end := sdk.NewTracerProvider().Tracer("example").Start(context.Background(), "a reconcile")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.dev/api/v1/namespaces/shop/configmaps", nil)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	_ = answer.Body.Close()
	end.End()
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output:
	// queue
	// deploy sign
	// verify sign
	// reconcile
	// Shop changed
	// GET configmaps
}

// answering is an API server that answers all with one code.
type answering int

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a), Body: http.NoBody, Request: req}, nil
}
