package operator

import (
	"fmt"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
)

func (o *Operator) renderCommand(settings *config.Settings) *cobra.Command {
	flags := renderFlags{from: "--filename"}
	command := &cobra.Command{
		Use:   "render -f FILE",
		Short: "Print the objects of resources, without a cluster",
		Long: "Print what would be applied for the resources in files, in the order of the rollout, without any cluster. Temporary patches among\n" +
			"them are applied, and what a resource renders of the kinds of this operator is rendered too. With --delete, print what would be\n" +
			"applied when the resources are deleted: what their Finalize rolls out.",
		Example: fmt.Sprintf("  %[1]s render -f sample.yaml\n  %[1]s render -f resources/ --output-dir rendered\n  kubectl get -o yaml %[2]s NAME | %[1]s render -f -",
			o.callName(), o.example()),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(flags.files) == 0 {
				return usage("render what? Say --filename FILE")
			}
			p, err := o.open(cmd, settings)
			if err != nil {
				return err
			}
			return o.dryRun(cmd.Context(), cmd.OutOrStdout(), p, flags)
		},
	}
	command.Flags().StringArrayVarP(&flags.files, "filename", "f", nil, "file, or directory of files, with resources to render, '-' for standard input; repeatable")
	command.Flags().BoolVar(&flags.deletes, "delete", false, "render the deletion of the resources: what Finalize rolls out")
	flags.flags(command, "")
	return command
}
