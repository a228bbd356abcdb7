package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/arrows"
	"github.com/operkit/operkit/tools/check/internal/hygiene"
	"github.com/operkit/operkit/tools/check/internal/repository"
	"github.com/operkit/operkit/tools/check/internal/rules"
)

// report is the outcome of a check.
type report struct {
	problems []string // one text each; none means that all is well
	notes    []string // what a reader should know besides
	summary  string   // a few words on what was looked at, may be empty
}

// check is one thing that can be wrong with a repository.
type check struct {
	name, summary string
	// prepare declares flags and gives what does the check once they are parsed.
	prepare func(flags *flag.FlagSet) func(ctx context.Context, r *repository.Repository) (report, error)
}

// checks gives all, in the order in which 'all' runs them: the quick ones first.
func checks() []check {
	return []check{
		{"modules", "go.work and the tree hold the same modules", prepareModules},
		{"format", "every Go file is formatted (-w formats them)", prepareFormat},
		{"vet", "go vet finds nothing", plain(hygiene.Vet)},
		{"arrows", "imports follow the design", plain(func(ctx context.Context, r *repository.Repository) ([]string, error) {
			return arrows.Check(ctx, r, arrows.House)
		})},
		{"tidy", "every go.mod is tidy and agrees with the workspace", plain(hygiene.Tidy)},
		{"generated", "generated files are fresh", plain(hygiene.Generated)},
		{"rules", "every claimed rule of the specification is proven by a test that passed", prepareRules},
	}
}

type action = func(ctx context.Context, r *repository.Repository) (report, error)

// plain is a check without flags and notes.
func plain(do func(context.Context, *repository.Repository) ([]string, error)) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action {
		return func(ctx context.Context, r *repository.Repository) (report, error) {
			problems, err := do(ctx, r)
			return report{problems: problems}, err
		}
	}
}

func prepareModules(*flag.FlagSet) action {
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		problems, err := r.Membership(ctx)
		return report{problems: problems, summary: fmt.Sprintf("%d modules", len(r.Modules))}, err
	}
}

func prepareFormat(flags *flag.FlagSet) action {
	write := flags.Bool("w", false, "format the files instead of naming them")
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		problems, err := hygiene.Format(ctx, r, *write)
		return report{problems: problems}, err
	}
}

func prepareRules(flags *flag.FlagSet) action {
	claim := flags.String("claim", "", "look at these rules instead of those in the files rules.txt, as in 'dag 1-34, 36'")
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		claimed, err := rules.Claims(r)
		if *claim != "" {
			claimed, err = rules.ParseClaims("-claim", *claim)
		}
		if err != nil {
			return report{problems: []string{err.Error()}}, nil
		}
		found, err := rules.Cover(ctx, r, claimed)
		summary := fmt.Sprintf("%d of %d claimed rules are proven", found.Proven, found.Claimed)
		return report{problems: found.Problems, notes: found.Notes, summary: summary}, err
	}
}

// prepareCheck makes a command of a check.
func prepareCheck(c check) func(*flag.FlagSet) func(context.Context, environment) error {
	return func(flags *flag.FlagSet) func(context.Context, environment) error {
		do := c.prepare(flags)
		return func(ctx context.Context, env environment) error {
			if !perform(ctx, env, c.name, do) {
				return errFailed
			}
			return nil
		}
	}
}

func prepareAll(*flag.FlagSet) func(context.Context, environment) error {
	return func(ctx context.Context, env environment) error {
		passed, failed := 0, []string{}
		for _, c := range checks() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if perform(ctx, env, c.name, c.prepare(flag.NewFlagSet(c.name, flag.ContinueOnError))) {
				passed++
			} else {
				failed = append(failed, c.name)
			}
		}
		_, _ = fmt.Fprintf(env.stdout, "CHECKS passed=%d failed=%d", passed, len(failed))
		if len(failed) > 0 {
			_, _ = fmt.Fprintf(env.stdout, ": %s\n", strings.Join(failed, " "))
			return errFailed
		}
		_, _ = fmt.Fprintln(env.stdout)
		return nil
	}
}

// perform does one check, prints its line and its problems, and reports whether there were none.
func perform(ctx context.Context, env environment, name string, do action) bool {
	start := time.Now()
	found, err := do(ctx, env.repository)
	if err != nil {
		found.problems = append(found.problems, err.Error())
	}
	ok := len(found.problems) == 0
	state := "ok"
	if !ok {
		state = fmt.Sprintf("FAILED, %d problems", len(found.problems))
		if len(found.problems) == 1 {
			state = "FAILED, 1 problem"
		}
	}
	if found.summary != "" {
		state += ", " + found.summary
	}
	_, _ = fmt.Fprintf(env.stdout, "%-10s %s (%.1fs)\n", name, state, time.Since(start).Seconds())
	for _, text := range found.problems {
		printIndented(env.stdout, text)
	}
	for _, text := range found.notes {
		printIndented(env.stdout, "note: "+text)
	}
	return ok
}

func printIndented(out io.Writer, text string) {
	_, _ = fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
}
