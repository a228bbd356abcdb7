//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call runs the program on a build file in a folder of its own.
func call(ctx context.Context, t *testing.T, file string, args ...string) (dir, stdout, stderr string, code int) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "build.txt")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"-f", path}, args...), &out, &errs)
	times := regexp.MustCompile(`\d+(\.\d+)?m?s`)
	return dir, times.ReplaceAllString(out.String(), "T"), strings.ReplaceAll(errs.String(), dir+"/", ""), code
}

const site = `
# The web needs two things.
web: api assets
	cat api assets > web
api:
	echo api > api
	echo more >> api

assets:
	echo assets > assets
other:
	touch other
`

func TestBuild(t *testing.T) {
	t.Parallel()
	t.Run("in order, with the commands of a target one after the other, in the file's folder", func(t *testing.T) {
		t.Parallel()
		dir, stdout, stderr, code := call(t.Context(), t, site, "-j", "1")
		require.Zero(t, code, stderr)
		assert.Equal(t, "[1/4] api: done in T\n[2/4] assets: done in T\n[3/4] other: done in T\n[4/4] web: done in T\n", stdout)
		web, err := os.ReadFile(filepath.Join(dir, "web"))
		require.NoError(t, err)
		assert.Equal(t, "api\nmore\nassets\n", string(web))
	})
	t.Run("only what is wanted, and what that needs", func(t *testing.T) {
		t.Parallel()
		dir, stdout, _, code := call(t.Context(), t, site, "-j", "1", "web", "api")
		require.Zero(t, code)
		assert.Equal(t, 3, strings.Count(stdout, "\n"))
		assert.NoFileExists(t, filepath.Join(dir, "other"))
		assert.FileExists(t, filepath.Join(dir, "web"))
	})
	t.Run("in parallel: two that wait for each other's file both end", func(t *testing.T) {
		t.Parallel()
		_, _, stderr, code := call(t.Context(), t, `
a:
	touch a; until test -e b; do sleep 0.01; done
b:
	touch b; until test -e a; do sleep 0.01; done
`, "-j", "2", "-timeout", "1m")
		assert.Zero(t, code, stderr)
	})
}

// TestSample builds the file of the README.
func TestSample(t *testing.T) {
	out := t.TempDir()
	t.Setenv("OUT", out)
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-f", "build.txt"}, &stdout, &stderr), stderr.String())
	assert.Equal(t, 6, strings.Count(stdout.String(), "done in"))
	assert.FileExists(t, filepath.Join(out, "report"))
}

func TestFailures(t *testing.T) {
	t.Parallel()
	const broken = "a:\n\techo first; echo second >&2\n\techo why; exit 3\n\ttouch never\nb: a\nc:\n\ttouch c\n"
	t.Run("an error names target and command, what it printed follows, and what needs it isn't built", func(t *testing.T) {
		t.Parallel()
		dir, stdout, stderr, code := call(t.Context(), t, broken, "-j", "1", "-k")
		assert.Equal(t, exitFailed, code)
		assert.Equal(t, `[1/3] a: FAILED after T: target a: command "echo why; exit 3": exit status 3
    why
[2/3] b: not built: waits for a (failed)
[3/3] c: done in T
`, stdout)
		assert.Equal(t, "dag-build: 1 failed, 1 not built: node \"a\": target a: command \"echo why; exit 3\": exit status 3\n", stderr)
		assert.NoFileExists(t, filepath.Join(dir, "never"))
	})
	t.Run("without -k nothing is started after a failure", func(t *testing.T) {
		t.Parallel()
		dir, stdout, _, code := call(t.Context(), t, broken, "-j", "1")
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stdout, "[3/3] c: not built: stopped after the error of a\n")
		assert.NoFileExists(t, filepath.Join(dir, "c"))
	})
	t.Run("a target that takes too long is ended", func(t *testing.T) {
		t.Parallel()
		begin := time.Now()
		_, stdout, _, code := call(t.Context(), t, "a:\n\tsleep 1000\n", "-timeout", "50ms")
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stdout, `FAILED after T: timed out after T: target a: command "sleep 1000": interrupted: context deadline exceeded`)
		assert.Less(t, time.Since(begin), 30*time.Second)
	})
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for why, first := range map[string]string{"heeds": "", "won't be told": `trap "" TERM; `} {
		t.Run("a command that "+why, func(t *testing.T) {
			t.Parallel()
			interrupt(t, first)
		})
	}
}

// interrupt cancels the program while a command runs that has started another one.
func interrupt(t *testing.T, first string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	go func() {
		for !fileHasLines(pids, 2) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	begin := time.Now()
	_, stdout, stderr, code := call(ctx, t,
		"a:\n\t"+first+"sleep 1000 & echo $$ >> "+pids+"; echo $! >> "+pids+"; wait\nb: a\n\ttouch b\n")
	assert.Equal(t, exitInterrupted, code)
	assert.Equal(t, "dag-build: interrupted: context canceled\n", stderr)
	assert.Contains(t, stdout, "interrupted: context canceled")
	assert.Contains(t, stdout, "[2/2] b: not built: waits for a (failed)")
	assert.Less(t, time.Since(begin), 30*time.Second)
	content, err := os.ReadFile(pids)
	require.NoError(t, err)
	for _, pid := range strings.Fields(string(content)) {
		number, err := strconv.Atoi(pid)
		require.NoError(t, err)
		assert.Eventually(t, func() bool { return gone(number) }, 10*time.Second, 5*time.Millisecond,
			"the shell and what it started are gone: %s", pid)
	}
}

func fileHasLines(path string, n int) bool {
	content, err := os.ReadFile(path)
	return err == nil && bytes.Count(content, []byte("\n")) >= n
}

// gone is also true of a process that has ended without anybody having asked how.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestPicture(t *testing.T) {
	t.Parallel()
	t.Run("coloured by what became of the targets", func(t *testing.T) {
		t.Parallel()
		picture := filepath.Join(t.TempDir(), "g.dot")
		_, _, _, code := call(t.Context(), t, "a:\n\tfalse\nb: a\nc:\n", "-k", "-dot", picture)
		assert.Equal(t, exitFailed, code, "the picture changes nothing about that")
		content, err := os.ReadFile(picture)
		require.NoError(t, err)
		assert.Contains(t, string(content), `"a" [fillcolor="#ffcdd2"`)
		assert.Contains(t, string(content), `"b" [fillcolor="#e3f2fd"`)
		assert.Contains(t, string(content), `"c" [fillcolor="#c8e6c9"`)
		assert.Contains(t, string(content), `"b" -> "a";`)
	})
	t.Run("with -n nothing runs, and the picture is plain", func(t *testing.T) {
		t.Parallel()
		picture := filepath.Join(t.TempDir(), "g.dot")
		dir, stdout, _, code := call(t.Context(), t, site, "-n", "-dot", picture)
		assert.Zero(t, code)
		assert.Equal(t, "api\nassets\nother\nweb\n", stdout)
		assert.NoFileExists(t, filepath.Join(dir, "api"))
		content, err := os.ReadFile(picture)
		require.NoError(t, err)
		assert.NotContains(t, string(content), "fillcolor")
	})
	t.Run("one that can't be written is an error", func(t *testing.T) {
		t.Parallel()
		_, _, stderr, code := call(t.Context(), t, "a:\n", "-dot", filepath.Join(t.TempDir(), "no", "g.dot"))
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, stderr, "dag-build: picture: ")
	})
}

func TestWrongCalls(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why, file string
		args      []string
		message   string
	}{
		{"a cycle, with its path", "a: b\nb: c\nc: a\n", nil,
			"dag-build: build.txt:3: target c: node \"c\": would wait for itself: c -> a -> b -> c\n"},
		{"a target that needs itself", "a: a\n", nil, "dag-build: build.txt:1: target a: node \"a\": would wait for itself: a -> a\n"},
		{"an unknown dependency", "a: b\n", nil,
			"dag-build: build.txt:1: target a: node \"b\": not in the graph, but named as the child of a dependency: add it first\n"},
		{"a target twice", "a:\na:\n", nil, "dag-build: build.txt:2: node \"a\": the graph already has a node of that name\n"},
		{"a command without a target", "\ttrue\n", nil, "dag-build: build.txt:1: command \"true\": there is no target above it\n"},
		{"a line that is neither", "a b\n", nil,
			"dag-build: build.txt:1: \"a b\": want a line \"name: dependency dependency\", or an indented command\n"},
		{"a name of two words, and no name: all is said", "a b: c\n: d\n", nil,
			"dag-build: build.txt:1: \"a b: c\": want a line \"name: dependency dependency\", or an indented command\n" +
				"build.txt:2: \": d\": want a line \"name: dependency dependency\", or an indented command\n"},
		{"a target that isn't there", "a:\n", []string{"x"}, "dag-build: target \"x\": not in the build file\n"},
		{"no jobs", "a:\n", []string{"-j", "0"}, "dag-build: -j 0: want 1 or more\n"},
		{"a negative timeout", "a:\n", []string{"-timeout", "-1s"}, "dag-build: -timeout -1s: want 0 or more\n"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			_, stdout, stderr, code := call(t.Context(), t, row.file, row.args...)
			assert.Equal(t, exitUsage, code)
			assert.Equal(t, row.message, stderr)
			assert.Empty(t, stdout)
		})
	}
	t.Run("no build file, an unknown flag, and help", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			args []string
			code int
			text string
		}{
			{[]string{"-f", filepath.Join(t.TempDir(), "none")}, exitUsage, "no such file"},
			{[]string{"-x"}, exitUsage, "usage: dag-build"},
			{[]string{"-h"}, 0, "usage: dag-build"},
		} {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, row.code, run(t.Context(), row.args, &stdout, &stderr))
			assert.Contains(t, stderr.String(), row.text)
		}
	})
}

// FuzzParse checks that any file is either refused or gives a graph of its targets.
func FuzzParse(f *testing.F) {
	f.Add(site)
	f.Add("a: b\nb: a\n")
	f.Add("\tx\n:\n\x00: \xff\n")
	f.Fuzz(func(t *testing.T, file string) {
		targets, err := parse("f", strings.NewReader(file))
		if err != nil {
			return
		}
		g, err := graphOf("f", targets)
		if err != nil {
			return
		}
		require.Equal(t, len(targets), g.Len())
		require.NoError(t, g.Validate())
		for _, target := range targets {
			stored, found := g.Node(target.name)
			require.True(t, found)
			require.Equal(t, target, stored)
		}
	})
}
