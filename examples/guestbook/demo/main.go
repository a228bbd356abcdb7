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

// terminalPause is what a reader at a terminal gets between two steps.
const terminalPause = time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// With the handler gone the second signal kills.
	context.AfterFunc(ctx, stop)
	// Taken, so that a reader that goes, as in `| head`, is the error of a write and doesn't
	// keep us from cleaning up. Broken connections cause it too: it is no interrupt.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// What client-go has to say about watches isn't for the reader of this program.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// options are what the demo can be told.
type options struct {
	keep  bool
	pause time.Duration
}

// run is the program; it gives the exit code. stdout gets the narration, stderr the progress
// of builds and the reason of a failure.
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
