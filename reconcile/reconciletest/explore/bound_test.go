package explore

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBounds(t *testing.T) {
	t.Run("explore 45: For ends it by real time, without a bound of states", func(t *testing.T) {
		began := time.Now()
		r := explored(t, manually(careful), startDriven, For(50*time.Millisecond))
		assert.Less(t, time.Since(began), time.Minute)
		assert.Contains(t, r.summary(), "left out by For(50ms): ")
	})
	t.Run("explore 45: with both, the first one ends it", func(t *testing.T) {
		r := explored(t, manually(careful), startDriven, For(time.Hour), States(40))
		assert.Contains(t, r.summary(), "left out by States(40): ")
		assert.Less(t, r.visited, 100)
	})
	t.Run("explore 45: a wrong time is an error", func(t *testing.T) {
		for _, d := range []time.Duration{0, -time.Second} {
			_, err := newOptions([]Option{Definitions("x"), Samples("x"), For(d)})
			assert.ErrorContains(t, err, "for: "+d.String()+": give a time greater than 0")
		}
	})
	t.Run("explore 45: a variable of the environment sets the time in place of the bound", func(t *testing.T) {
		mine := []Option{Definitions("x"), Samples("x"), States(7), For(time.Second)}
		for length, want := range map[string]options{"": {states: 7, limit: time.Second}, "5m": {states: math.MaxInt, limit: 5 * time.Minute}} {
			opts, err := lengthened(mine, length)
			require.NoError(t, err)
			o, err := newOptions(opts)
			require.NoError(t, err)
			assert.Equal(t, want, options{states: o.states, limit: o.limit}, length)
		}
		for _, length := range []string{"5", "-5m", "0s", "long"} {
			_, err := lengthened(mine, length)
			assert.EqualError(t, err, "OPERKIT_EXPLORE="+length+": give a time such as 5m, or leave the variable out")
		}
	})
	t.Run("explore 45: the default is a bound of states", func(t *testing.T) {
		o, err := newOptions([]Option{Definitions("x"), Samples("x")})
		require.NoError(t, err)
		assert.Equal(t, 5000, o.states)
		_, err = newOptions([]Option{Definitions("x"), Samples("x"), States(0)})
		assert.ErrorContains(t, err, "states: 0")
	})
}

func TestCoverage(t *testing.T) {
	small := explored(t, manually(careful), startDriven, States(100))
	e, lives := explorerFor(t, careful, States(850))
	require.NoError(t, e.search(slices.DeleteFunc(lives[:3], func(l life) bool { return l.chapters[1].idle })))
	large := e.report
	t.Run("explore 47: the first line is the summary, and no line is longer than 80", func(t *testing.T) {
		for _, r := range []report{small, large} {
			lines := strings.Split(r.summary(), "\n")
			assert.Equal(t, r.String(), lines[0])
			assert.Regexp(t, `^EXPLORE states=\d+ disturbances=\d+ pairs=\d+ walks=\d+ findings=0$`, lines[0])
			for _, line := range lines[:len(lines)-1] {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
			}
		}
	})
	t.Run("explore 47: it counts what was tried, of all", func(t *testing.T) {
		assert.Regexp(t, `(?m)^create ConfigMap +\d+ +\d+/\d+ +\d+/\d+ +\d+/\d+ +-$`, large.summary())
		assert.Regexp(t, `(?m)^\(ConfigMap at rest\) +- +- +- +- +\d+/\d+$`, large.summary())
		assert.Regexp(t, `(?m)^\(edit Shop seen late\) +- +- +- +\d+/\d+ +-$`, large.summary())
		tried, possible := large.covered.sum()
		assert.Equal(t, large.disturbed, tried)
		assert.Equal(t, possible, tried, "a large bound leaves nothing out")
		assert.NotContains(t, large.summary(), "left out")
		assert.Regexp(t, `(?m)^edits tried: 1 of 1, of 1 of 1 fields$`, large.summary())
		for name, r := range large.covered.rows {
			assert.Equal(t, r.possible, r.tried, name)
		}
		assert.Greater(t, large.paired, 0)
	})
	t.Run("explore 47: what a bound leaves out is told", func(t *testing.T) {
		assert.Regexp(t, `\nleft out by States\(100\): \d+ of \d+ disturbances, \d+ of \d+ edits: raise the bound to try them$`, small.summary())
	})
	t.Run("explore 48: a small bound is spent on disturbances and on edits", func(t *testing.T) {
		assert.Greater(t, small.disturbed, 5)
		assert.Greater(t, small.covered.edited, 0)
		assert.Less(t, small.covered.edited, small.covered.edits)
	})
	t.Run("explore 48: each request is disturbed once before any is a second time", func(t *testing.T) {
		choices := []choice{
			{1, 0, restart}, {1, 1, fail}, {1, 2, killBefore}, {1, 2, killAfter}, {1, 2, fail}, {1, 3, killBefore}, {1, 3, killAfter},
			{1, 3, fail}, {1, 1, take}, {1, 1, drift}, {1, 2, take}, {1, 2, drift},
		}
		assert.Equal(t, []choice{
			{1, 0, restart}, {1, 1, fail}, {1, 2, killAfter}, {1, 3, fail}, {1, 1, take}, {1, 2, drift},
			{1, 2, fail}, {1, 3, killBefore}, {1, 1, drift}, {1, 2, take},
			{1, 2, killBefore}, {1, 3, killAfter},
		}, spread(choices))
	})
	t.Run("explore 45: with a bound by states no time is told", func(t *testing.T) {
		assert.NotRegexp(t, regexp.MustCompile(`\d(ms|s)\b`), small.summary())
	})
}

func TestProgress(t *testing.T) {
	t.Run("explore 46: a line is rewritten a few times a second, and wiped", func(t *testing.T) {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := &progress{to: &out, now: func() time.Time { return now }}
		p.end()
		assert.Empty(t, out.String(), "nothing was shown")
		for i := range 100 {
			p.show(report{visited: i, disturbed: 2, walked: 1})
			now = now.Add(10 * time.Millisecond)
		}
		assert.Equal(t, 4, strings.Count(out.String(), "\r"), "in a second")
		assert.True(t, strings.HasPrefix(out.String(), "\rexplore: 0 states, 3 disturbances, 0 findings\x1b[K\r"))
		assert.NotContains(t, out.String(), "\n")
		p.end()
		assert.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"))
	})
	t.Run("explore 46: nothing is shown without a terminal", func(t *testing.T) {
		file, err := os.Create(t.TempDir() + "/file")
		require.NoError(t, err)
		defer func() { _ = file.Close() }()
		null, err := os.Open(os.DevNull)
		require.NoError(t, err)
		defer func() { _ = null.Close() }()
		assert.False(t, terminal(file, "xterm"), "a file")
		assert.False(t, terminal(null, "xterm"), "the null device")
		if tty, err := os.Open("/dev/ptmx"); err == nil {
			defer func() { _ = tty.Close() }()
			assert.True(t, terminal(tty, "xterm"), "a terminal")
			assert.False(t, terminal(tty, "dumb"), "a terminal that can't rewrite lines")
			assert.False(t, terminal(tty, ""), "an unknown terminal")
		}
		var none *progress
		none.show(report{})
		none.end()
	})
}
