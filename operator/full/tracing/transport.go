package tracing

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Transport makes a span of each request in a trace, and sends the trace to the API server. Watches and other requests
// outside of reconciles belong to no trace. It is for Wrap of a rest.Config.
func (t *Tracing) Transport(next http.RoundTripper) http.RoundTripper {
	return transport{otelhttp.NewTransport(next,
		otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithFilter(func(r *http.Request) bool { return trace.SpanFromContext(r.Context()).IsRecording() }),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + resourceOf(r.URL.Path) }),
	), next}
}

type transport struct {
	http.RoundTripper
	next http.RoundTripper
}

// WrappedRoundTripper implements net.RoundTripperWrapper of apimachinery.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// resourceOf returns the resource and subresource of a path of the API server, or the path itself if it has none.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return path
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	if len(parts) > 2 {
		return parts[0] + "/" + parts[2]
	}
	return parts[0]
}
