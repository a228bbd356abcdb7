package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/check/repository"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the process at once
	p := program{dir: ".", stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now, terminal: isTerminal(os.Stdin)}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// program has the input and output of the commands.
type program struct {
	dir            string // anywhere inside the repository
	cache          string // the module cache of verify; if it is empty, consumer.CacheFolder
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	terminal       bool // stdin is a terminal, so that a question may be asked
}

// errFailed ends the program with exit code 1. A command returns it after it has printed everything.
var errFailed = errors.New("failed")

// errUsage marks mistakes in the arguments.
var errUsage = errors.New("mistake in the arguments")

// run returns the exit code: 0 for success, 1 for a failure, 2 for wrong arguments.
func (p program) run(ctx context.Context, args []string) int {
	root := &cobra.Command{
		Use:   "release",
		Short: "Plan, tag and verify releases of the repository's modules",
		Long: "Plan, tag and verify releases of the repository's modules.\n\n" +
			"A module is released if its folder has a CHANGELOG.md. The program works from anywhere inside the repository.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: %q: there is no such command", errUsage, args[0])
			}
			return cmd.Help()
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.plan(), p.api(), p.apply(), p.verify(), p.proxy())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	root.SetArgs(args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	}
	_, _ = fmt.Fprintf(p.stderr, "%s: %v\n", command.CommandPath(), err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// inRepository returns the function of a command that calls do with the repository.
func (p program) inRepository(do func(ctx context.Context, r *repository.Repository, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := repository.Open(p.dir)
		if err != nil {
			return err
		}
		return do(cmd.Context(), r, args)
	}
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
