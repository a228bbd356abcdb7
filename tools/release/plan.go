package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/tagging"
)

// plan returns the command that prints what a release would do.
func (p program) plan() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "plan",
		Short: "Show which modules get which versions and why; changes nothing",
		Long: "Show which modules get which versions and why, what has changed in their APIs, the tags, and what the changelogs will\n" +
			"say. The command changes nothing. It uses the network only for modules of others that the module cache lacks.",
		Args: noArguments,
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "print the plan as `text|json`")
	command.RunE = p.inRepository(func(ctx context.Context, r *repository.Repository, _ []string) error {
		if output != "text" && output != "json" {
			return fmt.Errorf("%w: --output %q: use text or json", errUsage, output)
		}
		made, err := plan.Make(ctx, r, p.now())
		if err != nil {
			return err
		}
		if output == "text" {
			return made.Write(p.stdout)
		}
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(made)
	})
	return command
}

// noArguments returns an error if there are arguments, which most commands don't have.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %q: there are only flags", errUsage, args[0])
	}
	return nil
}

// api returns the command that shows the changes of the modules' APIs.
func (p program) api() *cobra.Command {
	var since string
	command := &cobra.Command{
		Use:   "api",
		Short: "Show how the APIs of the modules have changed since a commit; changes nothing",
		Long: "Show how the APIs of the released modules have changed since a commit: what breaks callers, and what is new.\n" +
			"Modules without changes are skipped. plan shows the same since the last tags.",
		Args: noArguments,
	}
	command.Flags().StringVar(&since, "since", "HEAD~1", "the `revision` to compare the working tree with")
	command.RunE = p.inRepository(func(ctx context.Context, r *repository.Repository, _ []string) error {
		found, err := plan.Since(ctx, r, since)
		if err != nil {
			return err
		}
		return found.Write(p.stdout)
	})
	return command
}

// apply returns the command that carries out a plan.
func (p program) apply() *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "apply",
		Short: "Make the commits and tags of a release, after showing the plan; pushes nothing",
		Long: "Show the plan of 'release plan', and then make it: a commit on the branch with the changelogs, a child of it with the\n" +
			"requirements of the released modules, and a tag on the child for each of them. Nothing is pushed.",
		Args: noArguments,
	}
	command.Flags().BoolVar(&yes, "yes", false, "don't ask; required if the input isn't a terminal")
	command.RunE = p.inRepository(func(ctx context.Context, r *repository.Repository, _ []string) error {
		made, err := plan.Make(ctx, r, p.now())
		if err != nil {
			return err
		}
		if err := tagging.Check(ctx, r, made); err != nil {
			return err
		}
		if err := made.Write(p.stdout); err != nil {
			return err
		}
		if !yes {
			if err := p.ask(); err != nil {
				return err
			}
		}
		result, err := tagging.Apply(ctx, r, made)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "\n%d tags on %.12s; nothing is pushed yet:\n  %s\n", len(result.Tags), result.Tagged, result.Push)
		return err
	})
	return command
}

// ask asks for confirmation, and returns an error unless the answer is yes.
func (p program) ask() error {
	if !p.terminal {
		return errors.New("the input isn't a terminal, so the question can't be asked: give --yes")
	}
	_, _ = fmt.Fprint(p.stdout, "\nMake these tags? [y/N] ")
	answer, _ := bufio.NewReader(p.stdin).ReadString('\n') // the end of the input means no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was changed: the answer wasn't yes")
	}
	return nil
}
