package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // as main does
	goleak.VerifyTestMain(m)
}

// environ is an environment of these variables only.
func environ(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason string
		args   []string
		env    map[string]string
		live   bool
		want   options
		says   string // on stderr, with an error
	}{
		{reason: "piped: no pause", want: options{}},
		{reason: "a reader at a terminal gets time", live: true, want: options{pause: terminalPause}},
		{reason: "the flag", args: []string{"--keep"}, want: options{keep: true}},
		{reason: "make's variable", env: map[string]string{"KEEP": "1"}, want: options{keep: true}},
		{reason: "any word means yes", env: map[string]string{"KEEP": "please"}, want: options{keep: true}},
		{reason: "make exports it empty", env: map[string]string{"KEEP": ""}, want: options{}},
		{reason: "KEEP=0 means no", env: map[string]string{"KEEP": "0"}, want: options{}},
		{reason: "KEEP=False means no", env: map[string]string{"KEEP": "False"}, want: options{}},
		{reason: "the flag beats the variable", args: []string{"--keep=false"}, env: map[string]string{"KEEP": "1"}, want: options{}},
		{reason: "the pause can be chosen", args: []string{"--pause", "0s"}, live: true, want: options{}},
		{reason: "unknown flag", args: []string{"--fast"}, says: "-fast"},
		{reason: "stray argument", args: []string{"now"}, says: `argument "now": none is taken`},
		{reason: "no duration", args: []string{"--pause", "long"}, says: `"long"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			got, err := parse(test.args, environ(test.env), screen{live: test.live}, &stderr)
			if test.says != "" {
				require.Error(t, err)
				assert.Contains(t, stderr.String(), test.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			assert.Empty(t, stderr.String())
		})
	}
}

func TestExitCodeOfWrongArguments(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitUsage, run(t.Context(), []string{"now"}, environ(nil), &stdout, &stderr))
	assert.Equal(t, 0, run(t.Context(), []string{"--help"}, environ(nil), &stdout, &stderr))
	assert.Empty(t, stdout.String(), "nothing was begun")
}

func TestOnlyATerminalIsDrawnOn(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
	for reason, out := range map[string]io.Writer{"a pipe": writer, "no file at all": &bytes.Buffer{}} {
		got := screenOf(out, environ(nil))
		assert.False(t, got.live, reason)
		assert.False(t, got.colour, reason)
		assert.Nil(t, got.width, reason)
	}
}

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)} }
