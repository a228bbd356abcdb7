package child

import (
	"context"
	"log/slog"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// sessionKey is the attribute of a logger that names its session.
const sessionKey = "operkit.session"

// lines sends what is logged to the manager.
type lines struct {
	peer  *wire.Peer
	level slog.Level
	// session and prefix are those of With and WithGroup, attributes names and their texts in turn.
	session, prefix string
	attributes      []string
}

// Enabled implements slog.Handler.
func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

// Handle implements slog.Handler.
func (l *lines) Handle(_ context.Context, record slog.Record) error {
	line := wire.Logged{Session: l.session, Level: int(record.Level), Text: record.Message, Time: record.Time.UnixNano(), Attributes: l.attributes}
	record.Attrs(func(attribute slog.Attr) bool {
		line.Attributes = appended(line.Attributes, l.prefix, attribute)
		return true
	})
	return l.peer.Notify(wire.Log, line)
}

// WithAttrs implements slog.Handler.
func (l *lines) WithAttrs(attributes []slog.Attr) slog.Handler {
	next := *l
	next.attributes = l.attributes[:len(l.attributes):len(l.attributes)]
	for _, attribute := range attributes {
		if attribute.Key == sessionKey {
			next.session = attribute.Value.String()
			continue
		}
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

func appended(to []string, prefix string, attribute slog.Attr) []string {
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

// events has the manager record what happens to resources.
type events struct{ peer *wire.Peer }

// Record implements event.Sink.
func (e events) Record(recorded event.Event) {
	about := *wire.NewRef(recorded.Regarding.Ref)
	_ = e.peer.Notify(wire.Event, wire.Recorded{About: about, Type: string(recorded.Type), Reason: recorded.Reason, Note: recorded.Note})
}
