package messages

import (
	"context"
	"log/slog"
)

// NewHandler returns a handler that adds the attribute help, a link to the entry on the page, to warnings and errors
// with a short message (Help). It passes all other records to next as they are.
func NewHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn {
		if link := Help(record.Message); link != "" {
			record = record.Clone()
			record.AddAttrs(slog.String("help", link))
		}
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
