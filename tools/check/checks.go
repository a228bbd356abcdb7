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
	"github.com/operkit/operkit/tools/check/internal/repository"
	"github.com/operkit/operkit/tools/check/internal/rules"
	"github.com/operkit/operkit/tools/check/internal/snippet"
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
	// alone keeps it out of 'all'.
	alone bool
}

// checks gives all, in the order in which 'all' runs them: the quick ones first.
func checks() []check {
	return []check{
		{name: "modules", summary: "go.work and the tree hold the same modules", prepare: prepareModules},
		{name: "large", summary: "no file is as large as a built program", prepare: plain(hygiene.Large)},
		{name: "format", summary: "every Go file is formatted (-w formats them)", prepare: prepareFormat},
		{name: "snippets", summary: "pages show what the files hold that they name (-w fills them)", prepare: prepareSnippets},
		{name: "testnames", summary: "no test has the name of another one in its folder", prepare: plain(hygiene.TestNames)},
		{name: "lint", summary: "golangci-lint finds no mistake; what is long or tangled is a note", prepare: prepareLint},
		{name: "arrows", summary: "imports follow the design", prepare: plain(func(ctx context.Context, r *repository.Repository) ([]string, error) {
			return arrows.Check(ctx, r, arrows.House)
		})},
		{name: "budgets", summary: "importers compile no more modules than promised (-v prints how many)", prepare: prepareBudgets},
		{name: "licences", summary: "what importers compile has a licence that is allowed (-v prints them)", prepare: prepareLicences},
		{name: "vulnerabilities", summary: "govulncheck finds none that is reached, where it reaches its database", prepare: warned(lint.Vulnerabilities)},
		{name: "docs", summary: "exports have comments, entry points Examples, packages a doc.go, modules a README", prepare: prepareDocs},
		{name: "tidy", summary: "every go.mod is tidy and agrees with the workspace", prepare: plain(hygiene.Tidy)},
		{name: "generated", summary: "generated files are fresh", prepare: plain(hygiene.Generated)},
		{name: "rules", summary: "each rule of a RULES.md is proven by a test that passed, and each number in a test's name is a rule", prepare: prepareRules},
		{name: "clean", summary: "nothing differs from the last commit; not part of all", prepare: plain(hygiene.Clean), alone: true},
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

// warned is a check without flags that knows what is worth a note.
func warned(do func(context.Context, *repository.Repository) (problems, notes []string, err error)) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action {
		return func(ctx context.Context, r *repository.Repository) (report, error) {
			problems, notes, err := do(ctx, r)
			return report{problems: problems, notes: notes}, err
		}
	}
}

func prepareLint(*flag.FlagSet) action {
	return func(ctx context.Context, r *repository.Repository) (result report, err error) {
		race, _, err := gotest.RaceDetector(ctx, os.Environ())
		if err != nil {
			return report{}, err
		}
		result.problems, result.notes, err = lint.Lint(ctx, r, race)
		return result, err
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

func prepareSnippets(flags *flag.FlagSet) action {
	write := flags.Bool("w", false, "fill the blocks with what the files hold")
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		problems, shown, err := snippet.Check(ctx, r, *write)
		return report{problems: problems, summary: fmt.Sprintf("%d snippets", shown)}, err
	}
}

func prepareBudgets(flags *flag.FlagSet) action {
	verbose := flags.Bool("v", false, "print how many modules are compiled, of how many")
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		found, err := budget.Check(ctx, r)
		result := report{problems: found.Problems, summary: fmt.Sprintf("%d budgets", len(found.Figures))}
		if *verbose {
			result.notes = found.Figures
		}
		return result, err
	}
}

func prepareLicences(flags *flag.FlagSet) action {
	verbose := flags.Bool("v", false, "print the licences of each module")
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		found, err := licence.Check(ctx, r, licence.House)
		result := report{problems: found.Problems, notes: found.Notes, summary: fmt.Sprintf("%d modules", len(found.Licences))}
		if *verbose {
			result.notes = append(result.notes, found.List()...)
		}
		return result, err
	}
}

func prepareDocs(*flag.FlagSet) action {
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		found, err := docs.Check(ctx, r)
		summary := fmt.Sprintf("%d exported identifiers, %d entry points", found.Identifiers, found.EntryPoints)
		return report{problems: found.Problems, summary: summary}, err
	}
}

func prepareRules(*flag.FlagSet) action {
	return func(ctx context.Context, r *repository.Repository) (report, error) {
		found, err := rules.Check(ctx, r)
		summary := fmt.Sprintf("%d of %d rules are proven", found.Proven, found.Rules)
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
			if c.alone {
				continue
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
