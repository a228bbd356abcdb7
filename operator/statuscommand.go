package operator

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
)

func (o *Operator) statusCommand(settings *config.Settings) *cobra.Command {
	var chosen selection
	var output output
	command := &cobra.Command{
		Use:   "status [KIND] [NAME...]",
		Short: "Show how resources are: all in a table, a named one with its components and conditions",
		Example: fmt.Sprintf("  %[1]s status\n  %[1]s status --all-namespaces --selector tier=prod\n  %[1]s status hello\n  %[1]s status %[2]s/hello -o yaml",
			o.callName(), o.example()),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, c, err := o.attach(cmd, settings)
			if err != nil {
				return err
			}
			found, err := chosen.resolve(cmd.Context(), c, o.controlledKinds(), args)
			if len(found.objects) == 0 && output.format == "table" {
				if err == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "there are none")
				}
				return err
			}
			var states states
			for _, obj := range found.objects {
				states.all = append(states.all, newState(obj, o.domain))
			}
			states.kinds, states.namespaces, states.details = len(o.controllers) > 1, chosen.all, found.byName
			return errors.Join(err, output.print(cmd.OutOrStdout(), states))
		},
	}
	chosen.flags(command)
	output.flag(command)
	return command
}
