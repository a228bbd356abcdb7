package logging

import (
	"context"
	"log/slog"
)

// Channel is the attribute of a logger by which filters tell parts of a program apart:
// logger.With(logging.Channel, "billing").
const Channel = "channel"

// Option sets what is rarely set.
type Option func(*handler)

// Level is the least that is logged of what no filter speaks of, whatever the handler below says. Without it that decides.
func Level(level slog.Level) Option { return func(h *handler) { h.all, h.set = level, true } }

// Filters are the least levels of single channels, which must not be changed afterwards.
func Filters(filters map[string]slog.Level) Option {
	return func(h *handler) { h.channels = filters }
}

// NewHandler returns a handler that lets through to next what options ask for, also what next would leave out by its level.
// It is safe for concurrent use if next is.
func NewHandler(next slog.Handler, options ...Option) slog.Handler {
	h := &handler{Handler: next}
	for _, option := range options {
		option(h)
	}
	return h
}

type handler struct {
	slog.Handler
	all      slog.Level
	set      bool
	channels map[string]slog.Level
	channel  string
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if wanted, ok := h.channels[h.channel]; ok && h.channel != "" {
		return level >= wanted
	}
	if h.set {
		return level >= h.all
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
