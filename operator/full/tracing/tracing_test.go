package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	widgets       = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	widgetRequest = request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w"}, Triggers: request.Changed, Waited: time.Second}
)

type reconcilerFunc func(ctx context.Context, req request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}

// recorded is a Tracing whose ended spans are kept.
func recorded() (*Tracing, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return New(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))), recorder
}

// tree are the names of spans with those of their parents: "Widget changed > reconcile".
func tree(spans []sdk.ReadOnlySpan) (names []string) {
	byID := map[trace.SpanID]sdk.ReadOnlySpan{}
	for _, span := range spans {
		byID[span.SpanContext().SpanID()] = span
	}
	for _, span := range spans {
		name := span.Name()
		for parent, ok := byID[span.Parent().SpanID()]; ok; parent, ok = byID[parent.Parent().SpanID()] {
			name = parent.Name() + " > " + name
		}
		names = append(names, name)
	}
	return names
}

// attribute is the text of a span's attribute.
func attributeOf(span sdk.ReadOnlySpan, key string) string {
	for _, one := range span.Attributes() {
		if string(one.Key) == key {
			return one.Value.String()
		}
	}
	return ""
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	tracing, spans := recorded()
	var logs bytes.Buffer
	around := tracing.Around(reconcilerFunc(func(ctx context.Context, _ request.Request) (request.Result, error) {
		logging.Scoped(ctx, slog.New(slog.NewTextHandler(&logs, nil))).Info("works")
		return request.Result{RequeueAfter: time.Minute}, nil
	}))
	_, err := around.Reconcile(logging.NewScope(t.Context()), widgetRequest)
	require.NoError(t, err)
	ended := spans.Ended()
	assert.Equal(t, []string{"Widget changed > queue", "Widget changed > reconcile", "Widget changed"}, tree(ended))
	queue, session, event := ended[0], ended[1], ended[2]
	assert.InDelta(t, time.Second, queue.EndTime().Sub(queue.StartTime()), float64(100*time.Millisecond))
	assert.Equal(t, queue.StartTime(), event.StartTime(), "it begins with the event")
	assert.Equal(t, []string{"shop", "Widget", "w", "changed"}, []string{
		attributeOf(event, "k8s.namespace.name"), attributeOf(event, "operkit.kind"), attributeOf(event, "operkit.name"), attributeOf(event, "operkit.triggers"),
	})
	assert.Equal(t, "1m0s", attributeOf(session, "operkit.requeue_after"))
	assert.Contains(t, logs.String(), "trace_id="+event.SpanContext().TraceID().String())

	_, err = tracing.Around(reconcilerFunc(func(context.Context, request.Request) (request.Result, error) {
		return request.Result{}, errors.New("no")
	})).Reconcile(t.Context(), widgetRequest)
	require.EqualError(t, err, "no")
	assert.Equal(t, sdk.Status{Code: codes.Error, Description: "no"}, spans.Ended()[4].Status())
	assert.Panics(t, func() {
		_, _ = tracing.Around(reconcilerFunc(func(context.Context, request.Request) (request.Result, error) { panic("out of cheese") })).Reconcile(t.Context(), widgetRequest)
	})
	assert.Equal(t, codes.Error, spans.Ended()[7].Status().Code)
	assert.Len(t, spans.Ended(), 9, "all spans end")
}

// room controls widgets: each has a ConfigMap, and another one that waits for what never comes.
type room struct{}

func (room) Kind() schema.GroupVersionKind { return widgets }

func (room) Setup(_ context.Context, s *reconcile.Session) error {
	content := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}
	}
	s.Add("room", content("room"))
	s.Add("web", content("web")).After(s.Component("room"), func(context.Context, *reconcile.Component) (bool, error) { return false, nil })
	s.Add("broken", content(""))
	return nil
}

func TestComponents(t *testing.T) {
	t.Parallel()
	tracing, spans := recorded()
	resource := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "w"}}}
	resource.SetGroupVersionKind(widgets)
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource))
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	r, err := reconcile.New(room{}, manager, reconcile.AroundComponents(tracing.Component), reconcile.Logger(slog.New(slog.DiscardHandler)), reconcile.Concurrency(0))
	require.NoError(t, err)
	_, err = tracing.Around(r).Reconcile(t.Context(), widgetRequest)
	require.Error(t, err)
	below := "Widget changed > reconcile > "
	assert.ElementsMatch(t, []string{
		"Widget changed > queue", below + "deploy room", below + "deploy broken", below + "verify room", "Widget changed > reconcile", "Widget changed",
	}, tree(spans.Ended()))
	for _, span := range spans.Ended() {
		assert.Equal(t, span.Name() == "deploy broken" || span.Name() == "reconcile", span.Status().Code == codes.Error, span.Name())
	}
}

func TestTransport(t *testing.T) {
	t.Parallel()
	tracing, spans := recorded()
	var told string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Get("Traceparent") }))
	defer server.Close()
	transport := tracing.Transport(http.DefaultTransport)
	ask := func(ctx context.Context) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPatch, server.URL+"/apis/apps/v1/namespaces/shop/deployments/web/status", nil)
		require.NoError(t, err)
		answer, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	ask(t.Context())
	assert.Empty(t, spans.Ended(), "a request that belongs to no trace, such as a watch, is none")
	assert.Empty(t, told)
	ctx, span := tracing.tracer.Start(t.Context(), "reconcile")
	ask(ctx)
	span.End()
	assert.Equal(t, []string{"reconcile > PATCH deployments/status", "reconcile"}, tree(spans.Ended()))
	assert.Contains(t, told, span.SpanContext().TraceID().String(), "the API server goes on with the trace")
	wrapped, ok := transport.(interface{ WrappedRoundTripper() http.RoundTripper })
	require.True(t, ok)
	assert.Equal(t, http.DefaultTransport, wrapped.WrappedRoundTripper())
}

func TestResourceOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/v1/namespaces/shop/configmaps/c":       "configmaps",
		"/api/v1/namespaces/shop":                    "namespaces",
		"/api/v1/namespaces":                         "namespaces",
		"/api/v1/namespaces/shop/status":             "namespaces/status",
		"/api/v1/nodes/n/status":                     "nodes/status",
		"/apis/apps/v1/namespaces/shop/deployments":  "deployments",
		"/apis/g/v1/namespaces/shop/widgets/w/scale": "widgets/scale",
		"/apis/apps/v1":                              "/apis/apps/v1",
		"/version":                                   "/version",
		"":                                           "",
	} {
		assert.Equal(t, want, resourceOf(path), path)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                     false,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c": true,
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=c": true,
		"OTEL_TRACES_EXPORTER=console":         true,
		"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=c": false,
		"OTEL_SDK_DISABLED=TRUE OTEL_EXPORTER_OTLP_ENDPOINT=c":    false,
		"OTEL_SERVICE_NAME=shop":                                  false,
	} {
		variables := map[string]string{}
		for pair := range strings.FieldsSeq(text) {
			key, value, _ := strings.Cut(pair, "=")
			variables[key] = value
		}
		assert.Equal(t, want, wanted(func(key string) string { return variables[key] }), text)
	}
}

func TestFromEnvironment(t *testing.T) {
	for _, variable := range os.Environ() {
		if key, _, _ := strings.Cut(variable, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, "")
		}
	}
	var logs bytes.Buffer
	about := operator.Process{Operator: "widget-operator", Runs: true, Logger: slog.New(slog.NewTextHandler(&logs, nil))}
	off, err := FromEnvironment(t.Context(), about)
	require.NoError(t, err)
	assert.Nil(t, off.Transport, "off is nothing at all")
	assert.Nil(t, off.Close)
	t.Setenv("OTEL_TRACES_EXPORTER", "pigeon")
	_, err = FromEnvironment(t.Context(), about)
	require.ErrorContains(t, err, "pigeon")
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "smoke")
	_, err = FromEnvironment(t.Context(), about)
	require.ErrorContains(t, err, "OTEL_*")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	on, err := FromEnvironment(t.Context(), about)
	require.NoError(t, err)
	assert.NotNil(t, on.Transport)
	assert.Len(t, on.Engine, 1)
	assert.Len(t, on.Reconciler, 1)
	require.NoError(t, on.Close(t.Context()), "nothing waits to be told")
	c := complaints(about.Logger)
	for range 3 {
		c.Handle(errors.New("no collector"))
	}
	assert.Equal(t, 1, strings.Count(logs.String(), "no collector"), "a collector that is down isn't told of all the time")
}
