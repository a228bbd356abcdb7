package heartbeat

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// beating runs a test beside a heart that beats each half minute into file, for as long as alive says nothing.
func beating(t *testing.T, file string, alive func() error, test func(logs *testlog.Text)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var logs testlog.Text
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, file, DefaultPeriod, alive, slog.New(slog.NewTextHandler(&logs, nil))) }()
		synctest.Wait()
		test(&logs)
		cancel()
		require.NoError(t, <-ended)
	})
}

func well() error { return nil }

func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("watch 38: at the start and each half minute, in UTC", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "beat")
		beating(t, file, well, func(logs *testlog.Text) {
			start := time.Now()
			assert.Equal(t, start.UTC().Format(time.RFC3339)+"\n", content(t, file), "watch mistake 20: UTC")
			require.NoError(t, Check(file, time.Second, time.Now()))
			time.Sleep(29 * time.Second)
			synctest.Wait()
			require.NoError(t, Check(file, 29*time.Second, time.Now()))
			require.Error(t, Check(file, 28*time.Second, time.Now()))
			time.Sleep(time.Second)
			synctest.Wait()
			require.NoError(t, Check(file, 0, time.Now()))
			assert.Empty(t, logs.String())
			files, err := os.ReadDir(filepath.Dir(file))
			require.NoError(t, err)
			assert.Len(t, files, 1, "nothing is left lying about")
		})
	})
	t.Run("watch mistake 20: none for a process that makes no progress, and again when it does", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "beat")
		stuck := errors.New("each worker is stuck")
		var isStuck atomic.Bool
		alive := func() error {
			if isStuck.Load() {
				return stuck
			}
			return nil
		}
		beating(t, file, alive, func(logs *testlog.Text) {
			isStuck.Store(true)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			require.ErrorContains(t, Check(file, time.Minute, time.Now()), "the last beat is 5m0s old")
			assert.Equal(t, 1, strings.Count(logs.String(), `msg="the heartbeat is not written"`), "it is said once")
			assert.Contains(t, logs.String(), `reason="each worker is stuck"`)
			isStuck.Store(false)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			require.NoError(t, Check(file, time.Minute, time.Now()))
			assert.Equal(t, 1, strings.Count(logs.String(), `msg="the heartbeat is written again"`))
		})
	})
	t.Run("watch 38: what can't be written is tried again with the next beat", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(t.TempDir(), "later")
		file := filepath.Join(folder, "beat")
		beating(t, file, well, func(logs *testlog.Text) {
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			assert.Equal(t, 1, strings.Count(logs.String(), `msg="the heartbeat is not written"`))
			require.ErrorContains(t, Check(file, time.Minute, time.Now()), "the file doesn't exist")
			require.NoError(t, os.Mkdir(folder, 0o700))
			time.Sleep(30 * time.Second)
			synctest.Wait()
			require.NoError(t, Check(file, time.Minute, time.Now()))
		})
	})
	t.Run("watch mistake 20: whoever reads sees a whole one", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "beat")
		require.NoError(t, write(file, time.Now()))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, Run(ctx, file, time.Microsecond, well, nil)) })
		for range 2000 {
			require.NoError(t, Check(file, time.Minute, time.Now()))
		}
		cancel()
		running.Wait()
	})
	t.Run("a folder that takes the file's place", func(t *testing.T) {
		t.Parallel()
		file := t.TempDir()
		require.Error(t, write(file, time.Now()))
		files, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		assert.Len(t, files, 1, "nothing is left lying about")
		require.ErrorContains(t, Check(file, time.Minute, time.Now()), "heartbeat: read ")
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for reason, row := range map[string]struct{ text, err string }{
		"fresh":                            {"2030-01-02T03:04:00Z\n", ""},
		"of another zone":                  {"2030-01-02T05:04:00+02:00", ""},
		"of a clock that is ahead":         {"2030-01-02T04:00:00Z", ""},
		"just old enough":                  {"2030-01-02T03:03:05Z", ""},
		"stale":                            {"2030-01-02T03:03:04Z", "the last beat is 1m1s old, from 2030-01-02T03:03:04Z: the limit is 1m0s"},
		"empty":                            {"", `it holds no time: ""`},
		"garbage, which isn't shown whole": {strings.Repeat("x", 100), `it holds no time: "` + strings.Repeat("x", 40) + `"`},
		"as oper8 writes it":               {"2030-01-02 03:04:00", `it holds no time: "2030-01-02 03:04:00"`},
	} {
		t.Run("watch 38: "+reason, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "beat")
			require.NoError(t, os.WriteFile(file, []byte(row.text), 0o600))
			if err := Check(file, time.Minute, now); row.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, "heartbeat "+file+": "+row.err)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		file   string
		alive  func() error
		period time.Duration
		err    string
	}{
		"no file":                   {"", well, time.Second, "heartbeat: the name of its file is empty"},
		"nobody to ask":             {"f", nil, time.Second, "heartbeat f: nil function"},
		"watch mistake 25: no time": {"f", well, 0, "heartbeat f: period 0s: it must be positive"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.EqualError(t, Run(t.Context(), row.file, row.period, row.alive, nil), row.err)
		})
	}
}
