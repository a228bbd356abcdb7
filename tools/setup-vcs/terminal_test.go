package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inTerminal runs the binary in a terminal of so many columns, and returns what it writes.
func inTerminal(t *testing.T, columns uint16, variables []string, args ...string) string {
	t.Helper()
	return inSlowTerminal(t, columns, variables, 0, args...)
}

// turn is how long the binary works at a time where it is to be slow.
const turn = 20 * time.Millisecond

// inSlowTerminal has the binary rest so long again and again.
func inSlowTerminal(t *testing.T, columns uint16, variables []string, rest time.Duration, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Env = append(append(os.Environ(), "TERM=xterm"), variables...)
	file, err := pty.StartWithSize(command, &pty.Winsize{Cols: columns, Rows: 24})
	require.NoError(t, err)
	ended := make(chan struct{})
	var resting sync.WaitGroup
	if rest > 0 {
		resting.Go(func() { slowDown(command.Process, rest, ended) })
	}
	var shown bytes.Buffer
	_, _ = io.Copy(&shown, file) // reading fails when the program has ended
	close(ended)
	resting.Wait()
	require.NoError(t, command.Wait(), shown.String())
	require.NoError(t, file.Close())
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// slowDown has a process rest again and again.
func slowDown(process *os.Process, rest time.Duration, ended <-chan struct{}) {
	for {
		for _, one := range []struct {
			signal os.Signal
			wait   time.Duration
		}{{syscall.SIGCONT, turn}, {syscall.SIGSTOP, rest}} {
			_ = process.Signal(one.signal) // it may have ended
			select {
			case <-ended:
				_ = process.Signal(syscall.SIGCONT) // it may be about to
				return
			case <-time.After(one.wait):
			}
		}
	}
}

func TestProgressInATerminal(t *testing.T) {
	t.Parallel()
	g := slow(t, slowFiles/5)
	clear := "\r\x1b[K"
	for _, columns := range []uint16{80, 40, 20} {
		made := filepath.Join(t.TempDir(), "versions")
		text := inSlowTerminal(t, columns, nil, 120*time.Millisecond, "-s", g.dir, "-d", made, "--verify")
		bars, report, found := strings.Cut(text, clear)
		require.True(t, found, "%q", text)
		assert.NotContains(t, report, "\x1b", "the bar goes, the report stays")
		assert.Contains(t, report, "KEPT")
		var shown []string
		for _, one := range strings.Split(bars, "\r")[1:] {
			one = strings.TrimSuffix(one, "\x1b[K")
			assert.Less(t, utf8.RuneCountInString(one), int(columns), "%q", one)
			assert.NotContains(t, one, "\n")
			assert.Regexp(t, `^(reading|packing|verifying) +(\[#*-*\])? *\d+%( |$)`, one)
			shown = append(shown, one)
		}
		assert.Greater(t, len(shown), 1, "it moves")
		if columns == 80 {
			assert.Regexp(t, `\[#*-+\] +\d+%  \d+/\d+ objects`, bars)
		}
	}
	text := inTerminal(t, 80, []string{"TERM=dumb"}, "-s", g.dir, "-d", filepath.Join(t.TempDir(), "versions"))
	assert.NotContains(t, text, "\x1b")
	assert.NotContains(t, text, "\r")
	assert.Contains(t, text, "reading 1 version\npacking ")
	assert.Empty(t, inTerminal(t, 80, nil, "-q", "-s", g.dir, "-d", filepath.Join(t.TempDir(), "versions")), "silent")
}

func TestNarrowTerminal(t *testing.T) {
	t.Parallel()
	g := released(t)
	g.git("tag", "a-name-that-is-longer-than-the-terminal-has-columns-1.0.0")
	for _, variables := range [][]string{nil, {"NO_COLOR=1"}} {
		for _, args := range [][]string{{}, {"-t", ".*"}, {"--dry-run"}} {
			text := inTerminal(t, 40, variables, append([]string{"-s", g.dir, "-d", filepath.Join(t.TempDir(), "v")}, args...)...)
			assert.NotRegexp(t, regexp.MustCompile(`\x1b\[[0-9;]*m`), text, "no colours")
			// A bar is shown where a phase takes its time; each of its states is a line that the next one clears.
			for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
				line = strings.TrimPrefix(strings.TrimSuffix(line, "\x1b[K"), "\x1b[K")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 40, "%q", line)
			}
			assert.Contains(t, text, "9.9.9-rc1\n  tag ", "what doesn't fit beside is below")
		}
	}
	text := inTerminal(t, 40, nil, "--help")
	_, after, _ := strings.Cut(text, "Expressions:\n")
	for line := range strings.Lines(after) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 40, "%q", line)
	}
}
