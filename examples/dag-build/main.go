package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/dag/draw"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// settings are the values of the command line.
type settings struct {
	file    string
	jobs    int
	keep    bool
	dry     bool
	picture string
	timeout time.Duration
	wanted  []string
}

func parseArguments(args []string, stderr io.Writer) (settings, error) {
	s := settings{}
	flags := flag.NewFlagSet("dag-build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage: dag-build [flags] [target ...]\n\nBuilds the targets, or all, and what they need.")
		flags.PrintDefaults()
	}
	flags.StringVar(&s.file, "f", "build.txt", "the build `file`; commands run in its folder")
	flags.IntVar(&s.jobs, "j", runtime.NumCPU(), "how many targets are built at the same time")
	flags.BoolVar(&s.keep, "k", false, "keep going after a failure, with what doesn't need the failed target")
	flags.BoolVar(&s.dry, "n", false, "run nothing, print the targets in their order")
	flags.StringVar(&s.picture, "dot", "", "write a picture of what became of the targets to this `file`, for Graphviz")
	flags.DurationVar(&s.timeout, "timeout", 0, "how long a target may take; 0 is for ever")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.wanted = flags.Args()
	var err error
	switch {
	case s.jobs < 1:
		err = fmt.Errorf("-j %d: want 1 or more", s.jobs)
	case s.timeout < 0:
		err = fmt.Errorf("-timeout %s: want 0 or more", s.timeout)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "dag-build:", err)
	}
	return s, err
}

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parseArguments(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return exitUsage
	}
	g, err := load(s)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "dag-build:", err)
		return exitUsage
	}
	if s.dry {
		_, _ = fmt.Fprintln(stdout, strings.Join(g.Topology(), "\n"))
		return picture(s, g, dag.State{}, 0, stderr)
	}
	state, err := build(ctx, s, g, stdout)
	code := 0
	switch {
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(stderr, "dag-build: interrupted:", err)
		code = exitInterrupted
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "dag-build:", err)
		code = exitFailed
	case !state.VerifyCompleted():
		_, _ = fmt.Fprintf(stderr, "dag-build: %d failed, %d not built: %v\n",
			len(state.Failed()), len(state.Unstarted()), state.Headline())
		code = exitFailed
	}
	return picture(s, g, state, code, stderr)
}

func load(s settings) (*dag.Graph[target], error) {
	content, err := os.Open(s.file)
	if err != nil {
		return nil, fmt.Errorf("build file: %w", err)
	}
	defer func() { _ = content.Close() }()
	targets, err := parse(s.file, content)
	if err != nil {
		return nil, err
	}
	g, err := graphOf(s.file, targets)
	if err != nil {
		return nil, err
	}
	return g, only(g, s.wanted)
}

func build(ctx context.Context, s settings, g *dag.Graph[target], stdout io.Writer) (dag.State, error) {
	p := &progress{out: stdout, total: g.Len()}
	options := []dag.Option{
		dag.Concurrency(s.jobs),
		dag.Observe(p.observe),
		dag.Abandon(2 * grace), // don't wait for a command that can't be ended
	}
	if !s.keep {
		options = append(options, dag.FailFast())
	}
	if s.timeout > 0 {
		options = append(options, dag.NodeTimeout(s.timeout))
	}
	return dag.Run(ctx, g, shell(filepath.Dir(s.file)), options...)
}

// picture writes the picture if one is wanted, and returns the exit code.
func picture(s settings, g *dag.Graph[target], state dag.State, code int, stderr io.Writer) int {
	if s.picture == "" {
		return code
	}
	if err := os.WriteFile(s.picture, []byte(draw.DOT(g, state)), 0o644); err != nil {
		_, _ = fmt.Fprintln(stderr, "dag-build: picture:", err)
		return max(code, exitFailed)
	}
	return code
}
