package operator

import (
	"fmt"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
)

func (o *Operator) runCommand(settings *config.Settings) *cobra.Command {
	var dryRun bool
	flags := renderFlags{from: "--cr"}
	command := &cobra.Command{
		Annotations: map[string]string{showSettings: ""},
		Use:         "run",
		Short:       "Watch the cluster and reconcile until stopped, or render without a cluster (--dry-run)",
		Example: fmt.Sprintf("  %[1]s run\n  %[1]s run --namespace shop\n  %[1]s run --namespace 'team-*,!team-x' --watch.namespace-selector tier=prod\n  %[1]s run --dry-run --cr sample.yaml\n  %[1]s run --dry-run --cr sample.yaml --output-dir rendered",
			o.callName()),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkDryRun(dryRun, flags); err != nil {
				return err
			}
			p, err := o.open(cmd, settings)
			if err != nil {
				return err
			}
			if dryRun {
				return o.dryRun(cmd.Context(), cmd.OutOrStdout(), p, flags)
			}
			return o.run(cmd.Context(), p)
		},
	}
	set := command.Flags()
	settings.Alias(set, "namespace", "n", "watch.namespaces")
	set.BoolVar(&dryRun, "dry-run", false, "render the resources given by --cr without a cluster and end")
	set.StringArrayVarP(&flags.files, "cr", "c", nil, "file, or directory of files, with resources to render, '-' for standard input; repeatable (with --dry-run)")
	flags.flags(command, " (with --dry-run)")
	return command
}

// checkDryRun refuses combinations of which one part would be ignored.
func checkDryRun(dryRun bool, flags renderFlags) error {
	switch {
	case dryRun && len(flags.files) == 0:
		return usage("--dry-run needs the resource to render: add --cr FILE")
	case !dryRun && len(flags.files) > 0:
		return usage("--cr goes with --dry-run")
	case !dryRun && len(flags.beside) > 0:
		return usage("--resource-dir goes with --dry-run")
	case !dryRun && flags.outputDir != "":
		return usage("--output-dir goes with --dry-run")
	case !dryRun && flags.showSecrets:
		return usage("--show-secrets goes with --dry-run")
	case !dryRun && flags.showDisabled:
		return usage("--show-disabled goes with --dry-run")
	}
	return nil
}
