package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/tagging"
)

// apply is the command that carries a plan out.
func (p program) apply() *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "apply",
		Short: "Make the commits and tags of a release, after showing the plan; pushes nothing",
		Long: "Make what 'release plan' says, after showing it: a commit on the branch for the changelogs, one above it with the\n" +
			"requirements of the released modules, and a tag for each of them. Nothing is pushed.",
		Args: noArguments,
	}
	command.Flags().BoolVar(&yes, "yes", false, "don't ask; needed where nobody can answer")
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := p.open()
		if err != nil {
			return err
		}
		made, err := plan.Make(cmd.Context(), r, p.now())
		if err != nil {
			return err
		}
		if err := tagging.Check(cmd.Context(), r, made); err != nil {
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
		result, err := tagging.Apply(cmd.Context(), r, made)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "\n%d tags on %.12s; nothing is pushed yet:\n  %s\n", len(result.Tags), result.Tagged, result.Push)
		return err
	}
	return command
}

// ask wants a yes.
func (p program) ask() error {
	if !p.terminal {
		return errors.New("nobody can be asked: give --yes")
	}
	_, _ = fmt.Fprint(p.stdout, "\nMake these tags? [y/N] ")
	answer, _ := bufio.NewReader(p.stdin).ReadString('\n') // its end without an answer is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing is done: the answer wasn't yes")
	}
	return nil
}
