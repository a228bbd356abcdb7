package main

import (
	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/release/internal/plan"
)

// api is the command that says what has changed for those who import the modules.
func (p program) api() *cobra.Command {
	var since string
	command := &cobra.Command{
		Use:   "api",
		Short: "Say how the APIs of the modules have changed since a commit; changes nothing",
		Long: "Say how the APIs of the released modules have changed since a commit: what breaks callers, and what is new.\n" +
			"A module that hasn't changed costs nothing. plan says the same since the last tags.",
		Args: noArguments,
	}
	command.Flags().StringVar(&since, "since", "HEAD~1", "the `revision` to compare the working tree with")
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := p.open()
		if err != nil {
			return err
		}
		found, err := plan.Since(cmd.Context(), r, since)
		if err != nil {
			return err
		}
		return found.Write(p.stdout)
	}
	return command
}
