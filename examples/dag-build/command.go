package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// grace is how long a command may take to end after it was asked to.
const grace = 3 * time.Second

// commandError says which command of which target failed, and what it printed.
type commandError struct {
	target, command string
	output          string
	err             error
}

func (e *commandError) Error() string {
	return fmt.Sprintf("target %s: command %q: %v", e.target, e.command, e.err)
}

func (e *commandError) Unwrap() error { return e.err }

// shell returns the function that visits a target: it runs the target's commands in a folder, one after the other,
// until one fails.
func shell(dir string) func(ctx context.Context, name string, t target) error {
	return func(ctx context.Context, name string, t target) error {
		for _, command := range t.commands {
			var output bytes.Buffer
			c := exec.CommandContext(ctx, "sh", "-c", command)
			c.Dir, c.Stdout, c.Stderr = dir, &output, &output
			c.WaitDelay = grace
			kill := endGroup(c)
			err := c.Run()
			if err == nil {
				continue
			}
			if ctx.Err() != nil {
				kill()
				err = fmt.Errorf("interrupted: %w", ctx.Err())
			}
			return &commandError{target: name, command: command, output: strings.TrimSpace(output.String()), err: err}
		}
		return nil
	}
}
