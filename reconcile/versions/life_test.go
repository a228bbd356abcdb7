package versions_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// of is the report of a version.
func of(t testing.TB, pool *versions.Pool, version string) versions.Report {
	t.Helper()
	for _, report := range pool.Report() {
		if report.Version == version {
			return report
		}
	}
	require.Fail(t, "there is no version", version)
	return versions.Report{}
}

// running are the versions that run.
func running(pool *versions.Pool) (names []string) {
	for _, report := range pool.Report() {
		if report.Running {
			names = append(names, report.Version)
		}
	}
	return names
}

// waiting is a resource whose Setup waits until a ConfigMap comes to be.
func waiting(name, version string) map[string]any {
	return map[string]any{"version": version, "setup": "wait"}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0", "1.1.0", "1.2.0")
	options.Limit = 2
	pool := start(t, options)
	require.Equal(t, []string{"1.1.0", "1.2.0"}, running(pool), "all were started once, and the first made room for the last")
	w := newWorld(t, pool.Controllers()[0])
	use := func(version string) {
		t.Helper()
		w.put(t, lab("l", map[string]any{"version": version}))
		_, err := w.reconcile(t.Context(), "l")
		require.NoError(t, err)
	}
	use("1.1.0")
	use("1.0.0")
	require.Equal(t, []string{"1.0.0", "1.1.0"}, running(pool), "1.2.0 is unused for longest")
	use("1.2.0")
	require.Equal(t, []string{"1.0.0", "1.2.0"}, running(pool))

	var using sync.WaitGroup
	for _, version := range []string{"1.0.0", "1.2.0"} {
		w.put(t, lab("waits-"+version, waiting("waits", version)))
		using.Go(func() {
			_, err := w.reconcile(t.Context(), "waits-"+version)
			assert.NoError(t, err)
		})
		soon(t, func() bool { return of(t, pool, version).InUse == 1 }, "it is used")
	}
	w.put(t, lab("l", map[string]any{"version": "1.1.0"}))
	result, err := w.reconcile(t.Context(), "l")
	require.NoError(t, err, "it waits")
	assert.Equal(t, time.Second, result.RequeueAfter)
	require.Equal(t, []string{"1.0.0", "1.2.0"}, running(pool), "what is in use is left alone")
	w.put(t, configMap("bell", nil))
	using.Wait()
	use("1.1.0")
	assert.Len(t, running(pool), 2)
}

// However many want a version at once, there are never more processes than may be, and all get their turn.
func TestLimitUnderContention(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0", "1.1.0", "1.2.0")
	options.Limit = 1
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	done := make(chan struct{})
	most := make(chan int, 1)
	go func() {
		highest := 0
		for {
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(time.Millisecond):
				// One version is asked after the other: what is the same twice was so at one time.
				if now := running(pool); slices.Equal(now, running(pool)) {
					highest = max(highest, len(now))
				}
			}
		}
	}()
	var all sync.WaitGroup
	for i := range 3 {
		for _, version := range pool.Versions() {
			name := fmt.Sprintf("l%d-%s", i, version)
			w.put(t, lab(name, map[string]any{"version": version}))
			all.Go(func() {
				for w.get(t, configMaps, name+"-note") == nil {
					result, err := w.reconcile(t.Context(), name)
					assert.NoError(t, err)
					if result.RequeueAfter == time.Second {
						time.Sleep(20 * time.Millisecond)
					}
				}
			})
		}
	}
	all.Wait()
	close(done)
	assert.Equal(t, 1, <-most)
}

func TestIdleVersionsAreStopped(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0")
	options.Idle = 50 * time.Millisecond
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	pids := map[int]bool{}
	for i := range 3 {
		_, err := w.reconcile(t.Context(), "l")
		require.NoError(t, err)
		report := pool.Report()[0]
		if report.Running {
			pids[report.PID] = true
		}
		soon(t, func() bool { return !pool.Report()[0].Running }, "it is stopped")
		assert.Zero(t, pool.Report()[0].PID)
		assert.Zero(t, pool.Report()[0].Failures, "nothing is wrong with it: round %d", i)
	}
	assert.GreaterOrEqual(t, pool.Report()[0].Starts, 3)
	for pid := range pids {
		soon(t, func() bool { return !runs(t, pid) }, "it ends")
	}
	w.put(t, lab("waits", waiting("waits", "1.0.0")))
	ended := make(chan error, 1)
	go func() {
		_, err := w.reconcile(t.Context(), "waits")
		ended <- err
	}()
	soon(t, func() bool { return pool.Report()[0].InUse == 1 }, "it is used")
	time.Sleep(4 * options.Idle)
	require.True(t, pool.Report()[0].Running, "what is in use isn't idle")
	w.put(t, configMap("bell", nil))
	require.NoError(t, <-ended)
}

// One that ends again and again is started later each time, and who needs it knows when to come again.
func TestVersionsThatEndAtOnce(t *testing.T) {
	t.Parallel()
	written := &logs{}
	options := folder(t, "brief", "1.0.0")
	options.Logger = written.logger(slog.LevelInfo)
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	began := time.Now()
	for attempt := 0; pool.Report()[0].Failures < 4; attempt++ {
		require.Less(t, time.Since(began), 30*time.Second)
		_, err := w.reconcile(t.Context(), "l", attempt)
		require.Error(t, err)
		time.Sleep(time.Millisecond)
	}
	assert.Greater(t, time.Since(began), (100+200+400)*time.Millisecond, "the pauses between its starts")
	assert.LessOrEqual(t, pool.Report()[0].Starts, 5)
	var err error
	soon(t, func() bool {
		_, err = w.reconcile(t.Context(), "l")
		return strings.Contains(fmt.Sprint(err), "version 1.0.0: its process has ended: exit status 7 (again in ")
	}, "it is told when it is started again, unless it just was")
	assert.True(t, request.Resolve(err).Passing)
	line := written.line(t, "a version has ended soon after its start; it is started again when it is needed")
	require.NotNil(t, line)
	assert.Equal(t, "1.0.0", line["version"])
	assert.Equal(t, "its process has ended: exit status 7", line["error"])
}

// Whatever goes on, Close ends it, and nothing is left.
func TestClose(t *testing.T) {
	t.Parallel()
	t.Run("while sessions are under way", func(t *testing.T) {
		t.Parallel()
		pool := start(t, folder(t, "lab", "1.0.0", "1.1.0"))
		controller := pool.Controllers()[0]
		w := newWorld(t, controller)
		var using sync.WaitGroup
		for i, version := range []string{"1.0.0", "1.0.0", "1.1.0"} {
			name := fmt.Sprint("waits", i)
			w.put(t, lab(name, waiting(name, version)))
			using.Go(func() {
				_, err := w.reconcile(t.Context(), name)
				assert.ErrorContains(t, err, "its process has ended")
			})
		}
		soon(t, func() bool { return of(t, pool, "1.0.0").InUse == 2 && of(t, pool, "1.1.0").InUse == 1 }, "all are used")
		reports := pool.Report()
		before := time.Now()
		pool.Close()
		assert.Less(t, time.Since(before), 4*time.Second, "sessions that wait are told to end")
		using.Wait()
		for _, report := range reports {
			assert.False(t, runs(t, report.PID))
		}
		assert.Empty(t, running(pool))
		_, err := w.reconcile(t.Context(), "waits0")
		require.ErrorContains(t, err, "the versions are closed")
		pool.Close() // once more is no harm
	})
	t.Run("while one doesn't listen", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab", "1.0.0")
		options.StopTimeout = 300 * time.Millisecond
		pool := start(t, options)
		w := newWorld(t, pool.Controllers()[0])
		w.put(t, lab("l", map[string]any{"version": "1.0.0", "setup": "ignore the end"}))
		ended := make(chan error, 1)
		go func() {
			_, err := w.reconcile(t.Context(), "l")
			ended <- err
		}()
		soon(t, func() bool { _, err := os.Stat(filepath.Join(options.Directory, "1.0.0", "deaf")); return err == nil }, "it doesn't listen any more")
		pid := pool.Report()[0].PID
		pool.Close()
		require.ErrorContains(t, <-ended, "signal: killed")
		assert.False(t, runs(t, pid))
	})
	t.Run("while one is started", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab", "1.0.0")
		options.StopTimeout = 50 * time.Millisecond
		pool := start(t, options)
		hangs := folder(t, "hangs", "1.1.0")
		require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "1.1.0", "bin"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "1.1.0", "bin", "lab"),
			fmt.Appendf(nil, "#!/bin/sh\necho $$ > pid\nexec %s/1.1.0/bin/hangs serve-version\n", hangs.Directory), 0o700))
		w := newWorld(t, pool.Controllers()[0])
		w.put(t, lab("l", map[string]any{"version": "1.1.0"}))
		ended := make(chan error, 1)
		go func() {
			_, err := w.reconcile(t.Context(), "l")
			ended <- err
		}()
		var pid int
		soon(t, func() bool {
			text, _ := os.ReadFile(filepath.Join(options.Directory, "1.1.0", "pid"))
			_, err := fmt.Sscan(string(text), &pid)
			return err == nil
		}, "it is started")
		before := time.Now()
		pool.Close()
		assert.Less(t, time.Since(before), 10*time.Second, "nobody waits for it to answer")
		require.Error(t, <-ended)
		assert.False(t, runs(t, pid))
	})
}

// A reconcile that is given up while its version starts doesn't spoil the start for others, who try again.
func TestStartIsSharedAndGivenUp(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0")
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	for i := range 10 {
		w.put(t, lab(fmt.Sprint("l", i), map[string]any{"version": "1.0.0"}))
	}
	kill(t, pool.Report()[0].PID)
	soon(t, func() bool { return !pool.Report()[0].Running }, "it has ended")
	time.Sleep(150 * time.Millisecond) // until it may be started again
	impatient, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = w.reconcile(impatient, "l0")
	})
	cancel()
	for i := 1; i < 10; i++ {
		all.Go(func() { assert.NoError(t, w.persist(t.Context(), fmt.Sprint("l", i))) })
	}
	all.Wait()
	assert.LessOrEqual(t, pool.Report()[0].Starts, 3)
	assert.Zero(t, pool.Report()[0].InUse)
}

func TestReport(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0", "1.1.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.1.0"}))
	_, err := w.reconcile(t.Context(), "l")
	require.NoError(t, err)
	reports := pool.Report()
	require.Len(t, reports, 2)
	for i, version := range []string{"1.0.0", "1.1.0"} {
		r := reports[i]
		assert.Equal(t, version, r.Version)
		assert.Equal(t, version, r.Release, "what the program says")
		assert.True(t, r.Running)
		assert.True(t, runs(t, r.PID))
		assert.Equal(t, 1, r.Starts)
		assert.Zero(t, r.InUse+r.Failures)
	}
	assert.Empty(t, reports[0].Calls)
	assert.Equal(t, map[string]int{"setup": 1, "render": 1, "content": 2, "hook": 3}, reports[1].Calls, "AfterDeploy, AfterVerify and Requeue")
	reports[1].Calls["setup"] = 7
	assert.Equal(t, 1, pool.Report()[1].Calls["setup"], "the caller's own")
}
