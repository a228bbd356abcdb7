package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/release/internal/plan"
)

// plan is the command that says what a release would do.
func (p program) plan() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "plan",
		Short: "Say which modules get which versions and why; changes nothing",
		Long: "Say which modules get which versions and why, what has changed in their APIs, the tags, and what the changelogs will\n" +
			"say. Changes nothing and asks no network but for modules of others that the module cache lacks.",
		Args: noArguments,
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "print it as `text|json`")
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		if output != "text" && output != "json" {
			return fmt.Errorf("%w: --output %q: use text or json", errUsage, output)
		}
		r, err := p.open()
		if err != nil {
			return err
		}
		made, err := plan.Make(cmd.Context(), r, p.now())
		if err != nil {
			return err
		}
		if output == "text" {
			return made.Write(p.stdout)
		}
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(made)
	}
	return command
}

// noArguments refuses what no command of this program takes.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: %q: there are only flags", errUsage, args[0])
	}
	return nil
}
