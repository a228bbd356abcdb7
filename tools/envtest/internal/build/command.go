package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// killDelay is what a go command gets to end by itself once its context ended.
const killDelay = 5 * time.Second

// tail is how many lines of a failed command go into its error.
const tail = 40

// gocmd is the go command in one folder.
type gocmd struct {
	dir   string
	env   []string   // of the child, whole; later entries win
	share []*os.File // stay open in the child
}

// with is g with more environment.
func (g gocmd) with(env ...string) gocmd {
	g.env = append(append([]string(nil), g.env...), env...)
	return g
}

// output runs go and gives what it printed on standard output.
func (g gocmd) output(ctx context.Context, args ...string) (string, error) {
	return g.run(ctx, nil, args...)
}

// run runs go, hands each line of its standard error to line, and gives its standard output, also of a command that
// failed. A line for which line gives true is progress and stays out of the error.
func (g gocmd) run(ctx context.Context, line func(string) bool, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = g.dir, g.env, g.share
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	rest := &lastLines{}
	split := &lineWriter{line: func(text string) {
		if line == nil || !line(text) {
			rest.add(text)
		}
	}}
	cmd.Stderr = split
	err := cmd.Run()
	split.flush()
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("go %s: %w", args[0], context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("go: %w", exec.ErrNotFound)
	case rest.String() == "":
		return stdout.String(), fmt.Errorf("go %s in %s: %w", args[0], g.dir, err)
	}
	return stdout.String(), fmt.Errorf("go %s in %s: %w\n%s", args[0], g.dir, err, rest)
}

// lineWriter hands on what is written to it line by line, without the empty ones.
type lineWriter struct {
	line func(string)
	rest []byte
}

// Write never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.rest = rest
		w.emit(line)
	}
}

// flush hands on a last line that has no end.
func (w *lineWriter) flush() {
	w.emit(w.rest)
	w.rest = nil
}

func (w *lineWriter) emit(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		w.line(string(line))
	}
}

// lastLines keeps the last lines of what a command said.
type lastLines struct {
	lines []string
}

func (l *lastLines) add(line string) {
	if l.lines = append(l.lines, line); len(l.lines) > tail {
		l.lines = l.lines[len(l.lines)-tail:]
	}
}

func (l *lastLines) String() string { return strings.Join(l.lines, "\n") }
