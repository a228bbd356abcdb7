package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// tail is how many lines of a command that failed go into its error.
	tail = 20
	// killDelay is how long a command may take to end by itself after the program was interrupted.
	killDelay = 5 * time.Second
)

// goCommand are the arguments of a call of the go command.
type goCommand []string

func (g goCommand) String() string { return "go " + strings.Join(g, " ") }

// run runs the go command in a folder. It prints to progress which modules the command downloads, which may take
// minutes. If the command fails, the error contains its output.
func (g goCommand) run(ctx context.Context, dir string, progress io.Writer, env ...string) error {
	_, err := g.output(ctx, dir, progress, env...)
	return err
}

func (g goCommand) output(ctx context.Context, dir string, progress io.Writer, env ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", g...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killDelay
	var stdout bytes.Buffer
	messages := &downloads{progress: progress}
	cmd.Stdout, cmd.Stderr = &stdout, messages
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: interrupted", g)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s: there is no go command in PATH: install Go", g)
	}
	return "", fmt.Errorf("%s: %w\n%s", g, err, lastLines(messages.others.String()+messages.line+stdout.String()))
}

// downloads passes on the messages of the go command about downloads, as soon as each line is complete, and keeps the
// others.
type downloads struct {
	progress io.Writer
	others   strings.Builder
	line     string
}

// Write implements io.Writer. It returns no error, because a command doesn't fail if its progress can't be shown.
func (d *downloads) Write(text []byte) (int, error) {
	d.line += string(text)
	for {
		line, rest, complete := strings.Cut(d.line, "\n")
		if !complete {
			return len(text), nil
		}
		d.line = rest
		if strings.HasPrefix(line, "go: downloading ") {
			_, _ = fmt.Fprintln(d.progress, line)
		} else {
			d.others.WriteString(line + "\n")
		}
	}
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-tail):], "\n")
}

// inFolder returns a shell command line that changes into a folder and runs commands there.
func inFolder(dir string, commands []goCommand) string {
	var parts []string
	if filepath.Clean(dir) != "." {
		parts = append(parts, "cd "+quoted(dir))
	}
	for _, command := range commands {
		parts = append(parts, command.String())
	}
	return strings.Join(parts, " && ")
}

// quoted returns a path quoted for a shell.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\$&;|<>()*?[]~`#!", r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
