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

// killDelay is how long a go command may take to end by itself after its context has ended.
const killDelay = 5 * time.Second

// tail is how many lines of a failed command go into its error.
const tail = 40

// gocmd is the go command in one folder.
type gocmd struct {
	dir   string
	env   []string   // complete environment of the child; later entries win
	share []*os.File // stay open in the child
}

// with returns a copy of g with more variables in its environment.
func (g gocmd) with(env ...string) gocmd {
	g.env = append(append([]string(nil), g.env...), env...)
	return g
}

// output runs go and returns its standard output.
func (g gocmd) output(ctx context.Context, args ...string) (string, error) {
	return g.run(ctx, nil, args...)
}

// run runs go, calls line for each line of its standard error, and returns its standard output, even if the command
// failed. Lines for which line returns true are progress, and aren't part of the error.
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

// lineWriter calls line for each line that is written to it, except for empty lines.
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

// flush passes on a last line without a newline.
func (w *lineWriter) flush() {
	w.emit(w.rest)
	w.rest = nil
}

func (w *lineWriter) emit(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		w.line(string(line))
	}
}

// lastLines keeps the last lines of a command's output.
type lastLines struct {
	lines []string
}

func (l *lastLines) add(line string) {
	if l.lines = append(l.lines, line); len(l.lines) > tail {
		l.lines = l.lines[len(l.lines)-tail:]
	}
}

func (l *lastLines) String() string { return strings.Join(l.lines, "\n") }
