package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// terminalPause is the pause between two steps for a reader at a terminal.
const terminalPause = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// After stop, a second signal kills the process.
	context.AfterFunc(ctx, stop)
	// SIGPIPE is caught, so that a closed pipe, as with `| head`, is only an error of a write, and the demo can still
	// clean up. It isn't treated as an interrupt, since broken connections cause it, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// Readers of the demo don't need client-go's messages about watches.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// options are the settings of the demo.
type options struct {
	keep  bool
	pause time.Duration
}

// run runs the program and returns the exit code. It writes the narration to stdout, and the progress of builds and the
// reason of a failure to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	screen := screenOf(stdout, getenv)
	options, err := parse(args, getenv, screen, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	err = show(ctx, newNarrator(stdout, screen, time.Now), options, stderr)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		_, _ = fmt.Fprintln(stderr, "demo: interrupted:", err)
		return exitInterrupted
	}
	_, _ = fmt.Fprintln(stderr, "demo: FAILED:", err)
	return exitFailed
}

func parse(args []string, getenv func(string) string, screen screen, stderr io.Writer) (options, error) {
	o := options{keep: truthy(getenv("KEEP"))}
	if screen.live {
		o.pause = terminalPause
	}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.keep, "keep", o.keep, "leave the cluster up and say how to look around; also by KEEP=1 in the environment")
	flags.DurationVar(&o.pause, "pause", o.pause, "wait so long after each step, for the reader; not counted")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("argument %q: none is taken", flags.Arg(0))
		_, _ = fmt.Fprintln(stderr, "demo:", err)
		return options{}, err
	}
	return o, nil
}

func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}
