package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// grace is how long a program may take to end by itself after it was interrupted.
const grace = 5 * time.Second

// Command returns a command that is interrupted when ctx ends, together with all processes that it started. A nil env
// stands for the environment of this process. Run it with [Run] or [Output].
func Command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = env
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return interrupt(cmd) }
	ownGroup(cmd)
	return cmd
}

// Run starts cmd and waits until it has ended. If ctx has ended meanwhile, Run kills the remaining processes of the
// command's group.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Run()
	if ctx.Err() == nil {
		return err
	}
	if cmd.Process != nil {
		kill(cmd)
	}
	return context.Cause(ctx)
}

// Output runs cmd as [Run] does and returns its standard output. The error contains the command line and the command's
// standard error.
func Output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := Run(ctx, cmd)
	if err == nil {
		return out.Bytes(), nil
	}
	text := strings.TrimSpace(problems.String())
	if text == "" {
		return out.Bytes(), fmt.Errorf("%s: %w", Line(cmd), err)
	}
	return out.Bytes(), fmt.Errorf("%s: %w\n%s", Line(cmd), err, text)
}

// JSON runs cmd as [Output] does and returns the JSON values that it prints, one after another.
func JSON[T any](ctx context.Context, cmd *exec.Cmd) ([]T, error) {
	out, err := Output(ctx, cmd)
	if err != nil {
		return nil, err
	}
	var values []T
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var value T
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: its output isn't JSON: %w", Line(cmd), err)
		}
		values = append(values, value)
	}
}

// One runs cmd as [Output] does and returns the JSON value that it prints. Any other number of values is an error.
func One[T any](ctx context.Context, cmd *exec.Cmd) (value T, err error) {
	values, err := JSON[T](ctx, cmd)
	if err != nil {
		return value, err
	}
	if len(values) != 1 {
		return value, fmt.Errorf("%s: it printed %d JSON values, not one", Line(cmd), len(values))
	}
	return values[0], nil
}

// Combined runs cmd as [Run] does and returns its standard output and standard error together. It also writes both to
// others. The error contains the command line.
func Combined(ctx context.Context, cmd *exec.Cmd, others ...io.Writer) (string, error) {
	var out bytes.Buffer
	all := io.MultiWriter(append(others, &out)...)
	cmd.Stdout, cmd.Stderr = all, all
	if err := Run(ctx, cmd); err != nil {
		return out.String(), fmt.Errorf("%s: %w", Line(cmd), err)
	}
	return out.String(), nil
}

// Line returns the command line of cmd, for messages.
func Line(cmd *exec.Cmd) string { return strings.Join(cmd.Args, " ") }

// Failed reports whether err means that a program ran and ended with a non-zero exit code. It returns false if the
// program couldn't be started.
func Failed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// Roomy returns env with a higher GOGC for compilers, unless GOGC is set. Compilers then use more memory and collect
// less garbage, which saves a tenth of the time. A nil env stands for the environment of this process. env isn't
// changed.
func Roomy(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	if slices.ContainsFunc(env, func(one string) bool { return strings.HasPrefix(one, "GOGC=") }) {
		return env
	}
	return append(slices.Clone(env), "GOGC=400")
}

// Yielding returns the words of a command line that runs with a low priority, if the system has nice.
func Yielding(words ...string) []string {
	if nice, err := exec.LookPath("nice"); err == nil {
		return append([]string{nice, "-n", "10"}, words...)
	}
	return words
}
