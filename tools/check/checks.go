package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/check/internal/arrows"
	"github.com/operkit/operkit/tools/check/internal/budget"
	"github.com/operkit/operkit/tools/check/internal/docs"
	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/hygiene"
	"github.com/operkit/operkit/tools/check/internal/licence"
	"github.com/operkit/operkit/tools/check/internal/lint"
	"github.com/operkit/operkit/tools/check/internal/messages"
	"github.com/operkit/operkit/tools/check/internal/rules"
	"github.com/operkit/operkit/tools/check/internal/snippet"
	"github.com/operkit/operkit/tools/check/repository"
)

// check is one check of the repository, with its command.
type check struct {
	name, summary string
	do            func(ctx context.Context, r *repository.Repository, o repository.Options) (repository.Report, error)
}

// checks are all checks, in the order in which 'all' runs them: the quick ones first.
var checks = []check{
	{"modules", "go.work and the tree have the same modules", repository.Membership},
	{"large", "no file is as large as a built program", hygiene.Large},
	{"format", "every Go file is formatted (-w formats them)", hygiene.Format},
	{"snippets", "code blocks are equal to the files that they name (-w updates them)", snippet.Check},
	{"messages", "the guide explains each reason, warning and error, and none that is gone", messages.Check},
	{"testnames", "no two tests in a folder have the same name", hygiene.TestNames},
	{"lint", "golangci-lint finds no mistake; long or nested functions are notes", lintAll},
	{"arrows", "imports follow the design", arrows.Check},
	{"budgets", "importers compile no more modules than promised (-v prints how many)", budget.Check},
	{"licences", "all that importers compile has an allowed licence (-v prints the licences)", func(ctx context.Context, r *repository.Repository, o repository.Options) (repository.Report, error) {
		return licence.Check(ctx, r, licence.House, o)
	}},
	{"vulnerabilities", "govulncheck finds no vulnerability that our code reaches; a note if its database can't be read", lint.Vulnerabilities},
	{"docs", "exports have comments, entry points Examples, packages a doc.go, modules a README", docs.Check},
	{"tidy", "every go.mod is tidy and agrees with the workspace", hygiene.Tidy},
	{"generated", "generated files are fresh", hygiene.Generated},
	{"rules", "passed tests prove each rule of every RULES.md, and no test names an unknown rule", rules.Check},
}

func lintAll(ctx context.Context, r *repository.Repository, _ repository.Options) (repository.Report, error) {
	race, _, err := gotest.RaceDetector(ctx, os.Environ())
	if err != nil {
		return repository.Report{}, err
	}
	return lint.Lint(ctx, r, race)
}

// command returns the command that runs the check.
func (c check) command() command {
	return command{c.name, c.summary, func(flags *flag.FlagSet) func(context.Context, environment) error {
		var o repository.Options
		flags.BoolVar(&o.Write, "w", false, "fix the files that can be fixed")
		flags.BoolVar(&o.Verbose, "v", false, "print figures too")
		return func(ctx context.Context, env environment) error {
			if !c.perform(ctx, env, o) {
				return errFailed
			}
			return nil
		}
	}}
}

func prepareAll(*flag.FlagSet) func(context.Context, environment) error {
	return func(ctx context.Context, env environment) error {
		passed, failed := 0, ""
		for _, c := range checks {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if c.perform(ctx, env, repository.Options{}) {
				passed++
			} else {
				failed += " " + c.name
			}
		}
		count := len(strings.Fields(failed))
		if count == 0 {
			_, _ = fmt.Fprintf(env.stdout, "CHECKS passed=%d failed=0\n", passed)
			return nil
		}
		_, _ = fmt.Fprintf(env.stdout, "CHECKS passed=%d failed=%d:%s\n", passed, count, failed)
		return errFailed
	}
}

// perform runs the check, prints its line and its problems, and reports whether it found no problem.
func (c check) perform(ctx context.Context, env environment, o repository.Options) bool {
	start := time.Now()
	found, err := c.do(ctx, env.repository, o)
	if err != nil {
		found.Problems = append(found.Problems, err.Error())
	}
	state := "ok"
	switch len(found.Problems) {
	case 0:
	case 1:
		state = "FAILED, 1 problem"
	default:
		state = fmt.Sprintf("FAILED, %d problems", len(found.Problems))
	}
	if found.Summary != "" {
		state += ", " + found.Summary
	}
	_, _ = fmt.Fprintf(env.stdout, "%-10s %s (%.1fs)\n", c.name, state, time.Since(start).Seconds())
	for _, text := range found.Problems {
		printIndented(env.stdout, text)
	}
	for _, text := range found.Notes {
		printIndented(env.stdout, "note: "+text)
	}
	return len(found.Problems) == 0
}

func printIndented(out io.Writer, text string) {
	_, _ = fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
}
