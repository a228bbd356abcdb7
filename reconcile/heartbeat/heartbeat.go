package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"
)

// DefaultPeriod is the time between two beats.
const DefaultPeriod = 30 * time.Second

// Run writes the time into file immediately and after each period, and returns nil when ctx ends. It calls alive before
// each write, and doesn't write if alive returns an error; alive must not block. A failed write is repeated after the
// next period. logger logs each reason for a missing beat once, and the first beat after a missing beat; nil means
// slog.Default. Run returns an error only if an argument is invalid; then nothing was written.
func Run(ctx context.Context, file string, period time.Duration, alive func() error, logger *slog.Logger) error {
	switch {
	case file == "":
		return errors.New("heartbeat: the name of its file is empty")
	case alive == nil:
		return fmt.Errorf("heartbeat %s: nil function", file)
	case period <= 0:
		return fmt.Errorf("heartbeat %s: period %s: it must be positive", file, period)
	case logger == nil:
		logger = slog.Default()
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for logged := ""; ; {
		logged = beat(file, alive, logger, logged)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// beat writes the time. If it can't, it logs the reason, unless this reason equals logged, the reason that was logged
// last. It returns the reason that was logged last, "" after a success.
func beat(file string, alive func() error, logger *slog.Logger, logged string) string {
	err := alive()
	if err == nil {
		err = write(file, time.Now())
	}
	switch {
	case err != nil && err.Error() != logged:
		logger.Error("the heartbeat is not written", "file", file, "reason", err)
		return err.Error()
	case err == nil && logged != "":
		logger.Info("the heartbeat is written again", "file", file)
		return ""
	}
	return logged
}

// write replaces file as a whole.
func write(file string, now time.Time) error {
	beside := file + ".new"
	err := os.WriteFile(beside, []byte(now.UTC().Format(time.RFC3339)+"\n"), 0o644)
	if err == nil {
		err = os.Rename(beside, file)
	}
	if err != nil {
		_ = os.Remove(beside) // it may not be there
	}
	return err
}

// Check returns an error if the last beat in file can't be read or is older than within at the time now.
func Check(file string, within time.Duration, now time.Time) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("heartbeat %s: the file doesn't exist: check that the process writes this file and has started", file)
	}
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	last, err := time.Parse(time.RFC3339, strings.TrimSpace(string(content)))
	if err != nil {
		return fmt.Errorf("heartbeat %s: it holds no time: %.40q", file, content)
	}
	if ago := now.Sub(last); ago > within {
		return fmt.Errorf("heartbeat %s: the last beat is %s old, from %s: the limit is %s", file, ago.Round(time.Second), last.Format(time.RFC3339), within)
	}
	return nil
}
