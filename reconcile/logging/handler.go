package logging

import (
	"context"
	"log/slog"
)

// Channel is the attribute of a logger by which filters tell parts of a program apart:
// logger.With(logging.Channel, "billing").
const Channel = "channel"

// NewHandler returns a handler that passes a record to next if it has at least the level of its channel in channels,
// even if the level of next is higher. level is the level for all other channels. If level is nil, next decides about
// these channels. The handler is safe for concurrent use if next is. channels must not be changed afterwards.
func NewHandler(next slog.Handler, level slog.Leveler, channels map[string]slog.Level) slog.Handler {
	return &handler{Handler: next, level: level, channels: channels}
}

type handler struct {
	slog.Handler
	level    slog.Leveler
	channels map[string]slog.Level
	channel  string
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if wanted, ok := h.channels[h.channel]; ok && h.channel != "" {
		return level >= wanted
	}
	if h.level != nil {
		return level >= h.level.Level()
	}
	return h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
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
func (h *handler) WithGroup(name string) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithGroup(name)
	return &next
}
