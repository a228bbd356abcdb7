package versions

import (
	"log/slog"
	"time"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// record records an event about the resource of a session.
func (l *life) record(r wire.Recorded) error {
	if s := l.session(r.Session); s != nil {
		s.local.Event(event.Type(r.Type), r.Reason, "%s", r.Note)
	}
	return nil
}

// logged passes on a line.
func (l *life) logged(line wire.Logged) error {
	logger := l.pool.options.Logger
	if s := l.session(line.Session); s != nil {
		logger = s.local.Logger()
	}
	for i := 0; i+1 < len(line.Attributes); i += 2 {
		if line.Attributes[i] == channel {
			logger = logger.With(channel, line.Attributes[i+1]) // it may have a level of its own
		}
	}
	ctx := l.pool.ctx
	if !logger.Enabled(ctx, slog.Level(line.Level)) {
		return nil
	}
	at := time.Time{}
	if line.Time != 0 {
		at = time.Unix(0, line.Time)
	}
	record := slog.NewRecord(at, slog.Level(line.Level), line.Text, 0)
	for i := 0; i+1 < len(line.Attributes); i += 2 {
		if line.Attributes[i] != channel {
			record.AddAttrs(slog.String(line.Attributes[i], line.Attributes[i+1]))
		}
	}
	record.AddAttrs(slog.String("version", l.version.name))
	return logger.Handler().Handle(ctx, record)
}
