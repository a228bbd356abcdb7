package logging

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseLevel(t *testing.T) {
	t.Parallel()
	last := Off + 0
	for _, name := range []string{"off", "error", "warning", "info", "debug", "trace", "debug1", "debug2", "debug3", "debug4"} {
		level, err := ParseLevel(strings.ToUpper(name) + " ")
		require.NoError(t, err, "operator 18: %s", name)
		if name != "off" {
			assert.Less(t, level, last, "operator 18: %s is lower than the one before", name)
		}
		last = level
	}
	for alias, name := range map[string]string{"disable": "off", "warn": "warning"} {
		one, err := ParseLevel(alias)
		require.NoError(t, err)
		other, err := ParseLevel(name)
		require.NoError(t, err)
		assert.Equal(t, other, one)
	}
	for _, wrong := range []string{"", "loud", "debug5", "4"} {
		_, err := ParseLevel(wrong)
		require.ErrorContains(t, err, "use off, error", wrong)
	}
}

func TestParseFilters(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		text, wrong string
		want        map[string]slog.Level
	}{
		"none":                        {"", "", map[string]slog.Level{}},
		"operator 18: two":            {"billing:debug, mail:OFF", "", map[string]slog.Level{"billing": slog.LevelDebug, "mail": Off}},
		"nothing between two commas":  {"billing:debug,,", "", map[string]slog.Level{"billing": slog.LevelDebug}},
		"the later one counts":        {"a:info,a:error", "", map[string]slog.Level{"a": slog.LevelError}},
		"without a level":             {"billing,mail:off", `filters "billing"`, map[string]slog.Level{"mail": Off}},
		"without a channel":           {":debug", `filters ":debug"`, map[string]slog.Level{}},
		"a level that there isn't":    {"a:loud,b:quiet", `filters "a:loud", "b:quiet"`, map[string]slog.Level{}},
		"a name that has a colon too": {"a:b:info", `filters "a:b:info"`, map[string]slog.Level{}},
	} {
		got, err := ParseFilters(row.text)
		assert.Equal(t, row.want, got, reason)
		if row.wrong == "" {
			assert.NoError(t, err, reason)
		} else {
			assert.ErrorContains(t, err, row.wrong, reason)
		}
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	said := func(level slog.Leveler, channels map[string]slog.Level, use func(*slog.Logger)) []string {
		var out bytes.Buffer
		below := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key != slog.MessageKey {
				return slog.Attr{}
			}
			return a
		}})
		use(slog.New(NewHandler(below, level, channels)))
		return strings.Fields(strings.ReplaceAll(out.String(), "msg=", ""))
	}
	all := func(l *slog.Logger) {
		l.Debug("debug")
		l.Info("info")
		billing := l.WithGroup("money").With(Channel, "billing", "coins", 3)
		billing.Debug("billing-debug")
		billing.Info("billing-info")
		l.With(Channel, "mail").Error("mail-error")
	}
	billing := map[string]slog.Level{"billing": slog.LevelDebug}
	assert.Equal(t, []string{"info", "billing-info", "mail-error"}, said(nil, nil, all), "what is below decides")
	assert.Equal(t, []string{"debug", "info", "billing-debug", "billing-info", "mail-error"}, said(slog.LevelDebug, nil, all))
	assert.Equal(t, []string{"info", "billing-debug", "billing-info", "mail-error"}, said(nil, billing, all))
	assert.Equal(t, []string{"billing-debug", "billing-info"}, said(Off, billing, all))
	assert.Equal(t, []string{"info", "billing-info"}, said(nil, map[string]slog.Level{"mail": Off}, all))
}
