package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/operkit/operkit/tools/check/repository"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errFailed ends the program with exit code 1. A command returns it after it has printed everything.
var errFailed = errors.New("failed")

// environment is the repository and the output of a command.
type environment struct {
	repository     *repository.Repository
	stdout, stderr io.Writer
}

// command is a command of the program.
type command struct {
	name, summary string
	// prepare declares flags, and returns the function that runs the command after the flags were parsed.
	prepare func(flags *flag.FlagSet) func(ctx context.Context, env environment) error
}

func commands() []command {
	list := []command{
		{"test", "run the tests of every module, with a control plane if a test needs it", prepareTest},
		{"fuzz", "run every fuzz target for some time (-time)", prepareFuzz},
		{"generate", "run every generator", prepareGenerate},
		{"figures", "print how large the code is (-repo: in another checkout)", prepareFigures},
		{"all", "run the checks below in this order, and print how many passed", prepareAll},
	}
	for _, c := range checks {
		list = append(list, c.command())
	}
	return list
}

// run runs the program for the repository that contains dir. It returns the exit code, which is 2 for wrong usage.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(stdout)
		return 0
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return runCommand(ctx, dir, c, args[1:], stdout, stderr)
		}
	}
	_, _ = fmt.Fprintf(stderr, "check: command %q: there is no such command\n\n", args[0])
	usage(stderr)
	return 2
}

func runCommand(ctx context.Context, dir string, c command, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("check "+c.name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	action := c.prepare(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "check %s: argument %q: the command takes no arguments\n", c.name, flags.Arg(0))
		return 2
	}
	opened, err := repository.Open(dir)
	if err == nil {
		err = action(ctx, environment{repository: opened, stdout: stdout, stderr: stderr})
	}
	if err == nil {
		return 0
	}
	if !errors.Is(err, errFailed) {
		_, _ = fmt.Fprintf(stderr, "check %s: %v\n", c.name, err)
	}
	return 1
}

func usage(out io.Writer) {
	var text strings.Builder
	text.WriteString("check runs the tests and the checks of this repository.\n\nUsage: check COMMAND [FLAGS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  %-10s %s\n", c.name, c.summary)
	}
	text.WriteString("\nThe flags of a command: check COMMAND -h\n")
	_, _ = io.WriteString(out, text.String())
}
