package reconcile

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLoggingAnnotations(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		level, filters string
		want           []string
	}{
		"reconcile 37: as the operator logs":              {want: []string{"INFO", "WARN"}},
		"reconcile 37, operator 19: more of one resource": {level: "debug", want: []string{"DEBUG", "INFO", "WARN", "DEBUG billing", "INFO billing"}},
		"reconcile 37: below debug":                       {level: "TRACE", want: []string{"DEBUG-1", "DEBUG", "INFO", "WARN", "DEBUG billing", "INFO billing"}},
		"reconcile 37: less of it":                        {level: "warning", want: []string{"WARN"}},
		"reconcile 37: nothing":                           {level: "off"},
		"reconcile 37: one channel":                       {level: "error", filters: "billing:debug, mail:off", want: []string{"DEBUG billing", "INFO billing"}},
		"reconcile 37: one channel less":                  {filters: "billing:error", want: []string{"INFO", "WARN"}},
		"what can't be read is told":                      {level: "loud", filters: "billing", want: []string{"WARN annotations", "INFO", "WARN"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resource := widget()
			resource.SetAnnotations(map[string]string{"operkit.dev/log-default-level": row.level, "operkit.dev/log-filters": row.filters})
			w := newWorldWith(t, resource)
			w.calm(w.reconciler(&controller{func(ctx context.Context, s *Session) error {
				assert.Same(t, s.Logger(), LoggerOf(ctx))
				for _, level := range []slog.Level{slog.LevelDebug - 1, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
					LoggerOf(ctx).Log(ctx, level, "said")
				}
				billing := s.Logger().WithGroup("money").With(Channel, "billing")
				billing.Debug("said")
				billing.Info("said")
				return nil
			}}))
			var said []string
			for line := range strings.Lines(w.logs.String()) {
				_, level, _ := strings.Cut(line, "level=")
				level, _, _ = strings.Cut(level, " ")
				switch {
				case strings.Contains(line, "msg=reconciled"):
					continue
				case strings.Contains(line, "can't be read"):
					level += " annotations"
				case strings.Contains(line, "billing"):
					level += " billing"
				}
				said = append(said, level)
			}
			if row.level == "" {
				// The text handler of the tests says INFO of the channel too.
				said = withoutBilling(said, row.filters == "")
			}
			assert.Equal(t, row.want, withoutBilling(said, row.level == "loud"))
		})
	}
	assert.Same(t, slog.Default(), LoggerOf(t.Context()))
}

func withoutBilling(lines []string, drop bool) (kept []string) {
	for _, line := range lines {
		if !drop || !strings.Contains(line, "billing") {
			kept = append(kept, line)
		}
	}
	return kept
}
