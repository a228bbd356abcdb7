package logging

import (
	"context"
	"log/slog"
	"sync"
)

// scope is what the lines about one piece of work have in common.
type scope struct {
	mu    sync.Mutex
	attrs []slog.Attr
}

type scopeKey struct{}

// NewScope returns a context for one piece of work, whose lines have in common what Annotate adds in the course of it. It has what
// the scope around it has by then.
func NewScope(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{attrs: attrs(ctx)})
}

// Annotate adds to what the lines of the scope of ctx have in common, such as the id of a trace. Outside of a scope it does nothing. It
// is safe for concurrent use.
func Annotate(ctx context.Context, more ...slog.Attr) {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.attrs = append(s.attrs, more...)
	}
}

// Scoped is logger with what the lines of the scope of ctx have in common by now.
func Scoped(ctx context.Context, logger *slog.Logger) *slog.Logger {
	common := attrs(ctx)
	if len(common) == 0 {
		return logger
	}
	return slog.New(logger.Handler().WithAttrs(common))
}

// attrs are the caller's own.
func attrs(ctx context.Context) []slog.Attr {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]slog.Attr(nil), s.attrs...)
}
