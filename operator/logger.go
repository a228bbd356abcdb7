package operator

import (
	"io"
	"log/slog"
	"math"
	"strings"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/logging"
)

// newLogger returns what writes the lines that settings ask for, which were checked, to out.
func newLogger(out io.Writer, c config.Log) *slog.Logger {
	everything := &slog.HandlerOptions{Level: slog.Level(math.MinInt)}
	var handler slog.Handler = slog.NewTextHandler(out, everything)
	if c.Format == "json" {
		handler = slog.NewJSONHandler(out, everything)
	}
	level, _ := logging.ParseLevel(c.Level)
	filters, _ := logging.ParseFilters(strings.Join(c.Filters, ","))
	return slog.New(logging.NewHandler(handler, logging.Level(level), logging.Filters(filters)))
}
