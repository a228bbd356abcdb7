package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/watch"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// FromEnvironment is for operator.Instrument: it traces if the environment says where traces go, by the variables OTEL_*. What can't be
// sent is logged, once a minute at most. The traces' service is called like the operator if OTEL_SERVICE_NAME doesn't name it.
func FromEnvironment(ctx context.Context, p operator.Process) (operator.Instruments, error) {
	if !wanted(os.Getenv) {
		return operator.Instruments{}, nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return operator.Instruments{}, fmt.Errorf("traces: %w: look at the environment variables OTEL_*, such as OTEL_TRACES_EXPORTER %q and OTEL_EXPORTER_OTLP_PROTOCOL %q",
			err, os.Getenv("OTEL_TRACES_EXPORTER"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", p.Operator), attribute.String("service.version", p.Version)), resource.WithFromEnv())
	if err != nil {
		return operator.Instruments{}, fmt.Errorf("traces: %w: see OTEL_RESOURCE_ATTRIBUTES", err)
	}
	otel.SetErrorHandler(&complaints{logger: p.Logger})
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	t := New(provider)
	return operator.Instruments{
		Transport: t.Transport, Engine: []watch.Option{watch.Around(t.Around)}, Reconciler: []reconcile.Option{reconcile.AroundComponents(t.Component)},
		Close: provider.Shutdown,
	}, nil
}

// wanted tells whether the environment says where traces go. OpenTelemetry's own default, a collector on this machine, isn't taken for one.
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

// complaints are those of OpenTelemetry, of which one a minute is logged.
type complaints struct {
	logger *slog.Logger

	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.last) < time.Minute {
		return
	}
	c.last = time.Now()
	c.logger.Warn("traces can't be sent", "error", err)
}
