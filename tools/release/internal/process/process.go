package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// grace is how long a program may take to end by itself after it was interrupted.
const grace = 5 * time.Second

// Program is one to be run. Name must be set.
type Program struct {
	// Dir is the folder to run in, Env the whole environment; empty: those of this process.
	Dir string
	Env []string
	// Stdin is what it reads; nil is nothing.
	Stdin io.Reader
	// Name and Args are the command line.
	Name string
	Args []string
}

// Output runs the program and gives what it printed to standard output. The error names the command and holds what it
// printed to standard error. When ctx ends the program is interrupted, with all that it started, and the error is that
// of ctx.
func (p Program) Output(ctx context.Context) (string, error) {
	var out, problems bytes.Buffer
	err := p.run(ctx, &out, &problems)
	if err == nil {
		return out.String(), nil
	}
	return out.String(), p.failed(ctx, err, problems.String())
}

// Combined is Output, of standard output and standard error as they came. The error doesn't hold them.
func (p Program) Combined(ctx context.Context) (string, error) {
	var out bytes.Buffer
	err := p.run(ctx, &out, &out)
	if err == nil {
		return out.String(), nil
	}
	return out.String(), p.failed(ctx, err, "")
}

func (p Program) failed(ctx context.Context, err error, said string) error {
	line := strings.Join(append([]string{p.Name}, p.Args...), " ")
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", line, context.Cause(ctx))
	}
	if said = strings.TrimSpace(said); said != "" {
		return fmt.Errorf("%s: %w\n%s", line, err, said)
	}
	return fmt.Errorf("%s: %w", line, err)
}

func (p Program) run(ctx context.Context, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, p.Name, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, p.Stdin
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return interrupt(cmd) }
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		kill(cmd) // what is left of the group
	}
	return err
}
