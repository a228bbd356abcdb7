package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/consumer"
	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/proxy"
)

// verification has the flags of verify.
type verification struct {
	modules string
	noTests bool
	planned bool
}

// verify returns the command that uses each module as an importer does.
func (p program) verify() *cobra.Command {
	var v verification
	command := &cobra.Command{
		Use:   "verify",
		Short: "Fetch, build and test each module as a consumer would",
		Long: "Fill a module proxy from the working tree and use each module from there as somebody else would, without the workspace\n" +
			"and the repository: fetch it, build it, write a program that calls it, install its commands, run its tests and examples\n" +
			"from the module cache. If a module fails, the others are still verified, and the exit code is 1.",
		Args: noArguments,
	}
	flags := command.Flags()
	flags.StringVar(&v.modules, "module", "", "`folders` of the modules to verify, separated by commas (default: all)")
	flags.BoolVar(&v.noTests, "no-tests", false, "don't run the tests of the modules")
	flags.BoolVar(&v.planned, "planned", false, "use the versions and changelogs of 'release plan', to verify what 'release apply' would tag")
	command.RunE = p.inRepository(func(ctx context.Context, r *repository.Repository, _ []string) error {
		return p.verifyAll(ctx, r, v)
	})
	return command
}

func (p program) verifyAll(ctx context.Context, r *repository.Repository, v verification) (err error) {
	released, err := r.Released()
	if err != nil {
		return err
	}
	chosen, err := repository.Select(released, v.modules)
	if err != nil {
		return err
	}
	published, err := p.publish(ctx, r, v.planned)
	if err != nil {
		return err
	}
	cache := p.cache
	if cache == "" {
		if cache, err = consumer.CacheFolder(r); err != nil {
			return err
		}
	}
	bench, err := consumer.NewBench(ctx, r, published, cache, p.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bench.Close()) }()
	var results []consumer.Result
	for _, candidate := range published {
		if !slices.ContainsFunc(chosen, func(m repository.Module) bool { return m.Path == candidate.Path }) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		results = append(results, bench.Verify(ctx, candidate, !v.noTests))
	}
	return report(p.stdout, results)
}

func (p program) publish(ctx context.Context, r *repository.Repository, planned bool) ([]publication.Module, error) {
	if !planned {
		return publication.FromTree(ctx, r, nil)
	}
	made, err := plan.Make(ctx, r, p.now())
	if err != nil {
		return nil, err
	}
	return made.Publish(ctx, r)
}

// report prints the failures and the table. It returns errFailed if a module failed.
func report(out io.Writer, results []consumer.Result) error {
	var text strings.Builder
	failed := 0
	for _, r := range results {
		if r.Err != nil {
			failed++
			fmt.Fprintf(&text, "%s %s FAILED\n    %s\n\n", r.Module, r.Version, strings.ReplaceAll(r.Err.Error(), "\n", "\n    "))
		}
	}
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "MODULE\tVERSION\tMODULES COMPILED\tPACKAGES\tBINARY\tOK") // writing to a strings.Builder never fails
	for _, r := range results {
		state := "ok"
		if r.Err != nil {
			state = "FAILED"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.1f MB\t%s\n", r.Module, r.Version, r.Modules, r.Packages, float64(r.Bytes)/1e6, state)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&text, "VERIFIED ok=%d failed=%d\n", len(results)-failed, failed)
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	if failed > 0 {
		return errFailed
	}
	return nil
}

// proxy returns the command that makes the modules of a clone usable without a release.
func (p program) proxy() *cobra.Command {
	command := &cobra.Command{
		Use:   "proxy [DIR]",
		Short: "Fill a module proxy from the working tree, and print the shell commands that make the go command use it",
		Long: "Fill a module proxy in DIR (default .cache/release/proxy) with the released modules of the working tree, and print\n" +
			"the shell commands that make the go command use it:\n\n" +
			"  eval \"$(release proxy)\"\n\n" +
			"In that shell, 'go get' and 'go run' with @latest then use the modules of the working tree, in any folder.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%w: %q: give one folder", errUsage, args)
			}
			return nil
		},
	}
	command.RunE = p.inRepository(func(ctx context.Context, r *repository.Repository, args []string) error {
		dir := filepath.Join(r.Root, ".cache", "release", "proxy")
		if len(args) == 1 {
			dir = args[0]
		}
		if _, err := proxy.Fill(ctx, r.Root, dir); err != nil {
			return err
		}
		env, err := proxy.Environ(ctx, dir)
		if err != nil {
			return err
		}
		lines := "unset GOPRIVATE GONOPROXY\n"
		for _, entry := range env {
			if name, value, _ := strings.Cut(entry, "="); slices.Contains([]string{"GOPROXY", "GONOSUMDB", "GONOPROXY"}, name) {
				lines += fmt.Sprintf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
			}
		}
		_, err = io.WriteString(p.stdout, lines)
		return err
	})
	return command
}
