// Command bench measures operators that do the same on a real control plane: one written with operkit, and others
// written with controller-runtime. See README.md for what it measures and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run returns 0 if every goal is met, 1 if a goal is missed or couldn't be measured, and 2 if the command line is
// wrong.
func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	short := flags.Bool("short", false, "fewer Bundles, rounds and operators, without scale and faults")
	fresh := flags.Bool("fresh", false, "forget the rounds that were measured before")
	rounds := flags.Int("rounds", 0, "how many rounds of each part but the traps, which have one (default: 3; 4 of faults, 2 of scale)")
	count := flags.Int("bundles", 0, "how many Bundles (default: 200 when short, else 1000); the goals are about the default")
	only := flags.String("part", "", "only main, traps, faults or scale, beside what was measured of others before "+
		"(default: all, main and traps when short)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "argument %q: there are only flags\n", flags.Arg(0))
		return 2
	case *rounds < 0 || *count < 0 || *count > 0 && *count < 4:
		fmt.Fprintln(os.Stderr, "-rounds and -bundles: at least 1 round and 4 Bundles are needed")
		return 2
	}
	b, err := newBenchmark(*short, *rounds, *count)
	if err == nil && *only != "" {
		err = b.choose(*only)
	}
	if err == nil && (*fresh || *only == "" && b.complete()) {
		err = b.forget()
	}
	if err == nil {
		err = b.measure(ctx)
	}
	met := false
	if err == nil {
		met, err = b.report(os.Stdout)
	}
	if err == nil && *only == "" {
		err = b.finish()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !met {
		return 1
	}
	return 0
}
