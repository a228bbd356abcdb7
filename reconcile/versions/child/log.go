package child

import (
	"context"
	"log/slog"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// lines is a slog.Handler that sends log lines to the manager.
type lines struct {
	peer    *wire.Peer
	level   slog.Level
	session string
	// prefix is the prefix that WithGroup has set. attributes are names and values as text, alternating.
	prefix     string
	attributes []string
}

// of returns the handler for a session.
func (l *lines) of(session string, level slog.Level) *lines {
	return &lines{peer: l.peer, level: level, session: session}
}

// Enabled implements slog.Handler.
func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

// Handle implements slog.Handler.
func (l *lines) Handle(_ context.Context, record slog.Record) error {
	line := wire.Logged{Session: l.session, Level: int(record.Level), Text: record.Message, Attributes: l.attributes}
	if !record.Time.IsZero() {
		line.Time = record.Time.UnixNano()
	}
	record.Attrs(func(attribute slog.Attr) bool {
		line.Attributes = appended(line.Attributes, l.prefix, attribute)
		return true
	})
	l.peer.Room() // waits if the manager reads too slowly
	return l.peer.Notify(wire.Log, line)
}

// WithAttrs implements slog.Handler.
func (l *lines) WithAttrs(attributes []slog.Attr) slog.Handler {
	next := *l
	for _, attribute := range attributes {
		next.attributes = appended(next.attributes, l.prefix, attribute)
	}
	return &next
}

// WithGroup implements slog.Handler.
func (l *lines) WithGroup(name string) slog.Handler {
	if name == "" {
		return l
	}
	next := *l
	next.prefix = l.prefix + name + "."
	return &next
}

// appended returns a copy of a list with an attribute added.
func appended(to []string, prefix string, attribute slog.Attr) []string {
	if attribute.Equal(slog.Attr{}) {
		return to
	}
	value := attribute.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		return append(to[:len(to):len(to)], prefix+attribute.Key, value.String())
	}
	if attribute.Key != "" {
		prefix += attribute.Key + "."
	}
	for _, inner := range value.Group() {
		to = appended(to, prefix, inner)
	}
	return to
}
