package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Channel is the attribute of a logger by which the annotation <domain>/log-filters tells parts of an
// operator apart: s.Logger().With(reconcile.Channel, "billing").
const Channel = "channel"

// Levels below slog.LevelDebug that annotations may name.
var logLevels = map[string]slog.Level{
	"off": math.MaxInt, "error": slog.LevelError, "warning": slog.LevelWarn, "warn": slog.LevelWarn, "info": slog.LevelInfo,
	"debug": slog.LevelDebug, "trace": slog.LevelDebug - 1,
	"debug1": slog.LevelDebug - 2, "debug2": slog.LevelDebug - 3, "debug3": slog.LevelDebug - 4, "debug4": slog.LevelDebug - 5,
}

// LoggerOf returns the logger of the reconcile that ctx belongs to, slog.Default outside of one.
func LoggerOf(ctx context.Context) *slog.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*slog.Logger); ok {
		return logger
	}
	return slog.Default()
}

type loggerKey struct{}

// loggerFor is base as the annotations of a resource want it (spec: reconcile 37): log-default-level for
// what is said, log-filters ("billing:debug,mail:off") for single channels. They hold for this resource
// alone, whatever the level of base. What can't be read is told and left out. (The format of the lines is
// the handler's; Go has no numbers of threads to add.)
func (r *Reconciler) loggerFor(resource *unstructured.Unstructured, base *slog.Logger) *slog.Logger {
	domain := r.manager.KeyDomain()
	annotations := resource.GetAnnotations()
	level, filters := annotations[domain+"/log-default-level"], annotations[domain+"/log-filters"]
	if level == "" && filters == "" {
		return base
	}
	h := &leveled{Handler: base.Handler(), channels: map[string]slog.Level{}}
	var problems []string
	if level != "" {
		h.all, h.set = logLevels[strings.ToLower(level)], true
		if _, known := logLevels[strings.ToLower(level)]; !known {
			h.set = false
			problems = append(problems, fmt.Sprintf("log-default-level %q", level))
		}
	}
	for _, filter := range strings.Split(filters, ",") {
		channel, name, _ := strings.Cut(strings.TrimSpace(filter), ":")
		if level, known := logLevels[strings.ToLower(name)]; known && channel != "" {
			h.channels[channel] = level
		} else if filter != "" {
			problems = append(problems, fmt.Sprintf("log-filters %q", filter))
		}
	}
	logger := slog.New(h)
	if len(problems) > 0 {
		logger.Warn("annotations about logging that can't be read", "annotations", strings.Join(problems, ", "))
	}
	return logger
}

// leveled lets through what a resource's annotations ask for.
type leveled struct {
	slog.Handler
	all      slog.Level
	set      bool
	channels map[string]slog.Level
	channel  string
}

// Enabled implements slog.Handler.
func (h *leveled) Enabled(ctx context.Context, level slog.Level) bool {
	if wanted, ok := h.channels[h.channel]; ok && h.channel != "" {
		return level >= wanted
	}
	if h.set {
		return level >= h.all
	}
	return h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithAttrs(attrs)
	for _, attr := range attrs {
		if attr.Key == Channel {
			next.channel = attr.Value.String()
		}
	}
	return &next
}

// WithGroup implements slog.Handler.
func (h *leveled) WithGroup(name string) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithGroup(name)
	return &next
}
