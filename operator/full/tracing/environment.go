package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"
)

// FromEnvironment is for operator.Extend: the command run then makes traces if variables OTEL_* name their destination.
// Errors of the export are logged once a minute at most. Without OTEL_SERVICE_NAME the service of the traces is named
// like the operator.
func FromEnvironment(ctx context.Context, p operator.Process) (operator.Extension, error) {
	if !p.Runs || !wanted(os.Getenv) {
		return operator.Extension{}, nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return operator.Extension{}, fmt.Errorf("traces: %w: check the environment variables OTEL_*, such as OTEL_TRACES_EXPORTER %q and OTEL_EXPORTER_OTLP_PROTOCOL %q",
			err, os.Getenv("OTEL_TRACES_EXPORTER"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", p.Operator), attribute.String("service.version", p.Version)), resource.WithFromEnv())
	if err != nil {
		return operator.Extension{}, fmt.Errorf("traces: %w: check OTEL_RESOURCE_ATTRIBUTES", err)
	}
	otel.SetErrorHandler(complaints(p.Logger))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	t := New(provider)
	return operator.Extension{
		Transport: t.Transport, Engine: []watch.Option{watch.Around(t.Around)}, Reconciler: []reconcile.Option{reconcile.AroundComponents(t.Component)},
		Close: provider.Shutdown,
	}, nil
}

// wanted reports whether the environment names a destination of traces. Unlike in OpenTelemetry, there is no default.
func wanted(variable func(string) string) bool {
	exporter := variable("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(variable("OTEL_SDK_DISABLED"), "true") || exporter == "none":
		return false
	case exporter != "":
		return true
	}
	return variable("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// complaints logs errors of OpenTelemetry, one a minute at most.
func complaints(logger *slog.Logger) otel.ErrorHandlerFunc {
	sometimes := rate.Sometimes{Interval: time.Minute}
	return func(err error) { sometimes.Do(func() { logger.Warn("traces can't be sent", "error", err) }) }
}
