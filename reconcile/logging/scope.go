package logging

import (
	"context"
	"log/slog"
	"sync"
)

// scope has the attributes that the lines about one piece of work have in common.
type scope struct {
	mu    sync.Mutex
	attrs []slog.Attr
}

type scopeKey struct{}

// NewScope returns a context for a piece of work. Annotate adds attributes to its log lines. The scope begins with the
// attributes of the scope around it.
func NewScope(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, &scope{attrs: attrs(ctx)})
}

// Annotate adds attributes to the lines of the scope of ctx, such as the id of a trace. Outside of a scope it does
// nothing. It is safe for concurrent use.
func Annotate(ctx context.Context, more ...slog.Attr) {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.attrs = append(s.attrs, more...)
	}
}

// Scoped returns logger with the attributes of the scope of ctx.
func Scoped(ctx context.Context, logger *slog.Logger) *slog.Logger {
	common := attrs(ctx)
	if len(common) == 0 {
		return logger
	}
	return slog.New(logger.Handler().WithAttrs(common))
}

// attrs returns a copy of the attributes of the scope of ctx.
func attrs(ctx context.Context) []slog.Attr {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]slog.Attr(nil), s.attrs...)
}
