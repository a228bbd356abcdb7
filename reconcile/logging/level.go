package logging

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
)

// Off is above all levels.
const Off = slog.Level(math.MaxInt)

// levels are the levels by name.
var levels = map[string]slog.Level{
	"off": Off, "disable": Off, "error": slog.LevelError, "warning": slog.LevelWarn, "warn": slog.LevelWarn, "info": slog.LevelInfo,
	"debug": slog.LevelDebug, "trace": slog.LevelDebug - 1,
	"debug1": slog.LevelDebug - 2, "debug2": slog.LevelDebug - 3, "debug3": slog.LevelDebug - 4, "debug4": slog.LevelDebug - 5,
}

// ParseLevel returns the level of a name, in small or capital letters: off, error, warning, info, debug, trace, and
// debug1 to debug4 below that; warn and disable mean warning and off.
func ParseLevel(name string) (slog.Level, error) {
	level, known := levels[strings.ToLower(strings.TrimSpace(name))]
	if !known {
		return 0, fmt.Errorf("level %q: use off, error, warning, info, debug, trace, or debug1 to debug4", name)
	}
	return level, nil
}

// ParseFilters reads levels of channels: "CHANNEL:LEVEL,CHANNEL:LEVEL". It leaves out filters that it can't read, and
// the error names them. The last level of a channel counts.
func ParseFilters(text string) (map[string]slog.Level, error) {
	filters := map[string]slog.Level{}
	var wrong []string
	for _, filter := range strings.Split(text, ",") {
		if strings.TrimSpace(filter) == "" {
			continue
		}
		channel, name, _ := strings.Cut(filter, ":")
		channel = strings.TrimSpace(channel)
		level, err := ParseLevel(name)
		if err != nil || channel == "" {
			wrong = append(wrong, fmt.Sprintf("%q", filter))
			continue
		}
		filters[channel] = level
	}
	if len(wrong) > 0 {
		return filters, fmt.Errorf("filters %s: each is CHANNEL:LEVEL, such as billing:debug", strings.Join(wrong, ", "))
	}
	return filters, nil
}
