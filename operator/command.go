package operator

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/spf13/cobra"
)

// command builds the commands of the binary.
func (o *Operator) command() *cobra.Command {
	root := &cobra.Command{
		Use:           o.name,
		Short:         "Kubernetes operator for " + strings.Join(o.kinds(), ", "),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w: see '%s --help'", err, cmd.CommandPath())
	})
	root.AddCommand(o.runCommand())
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("unknown command %q: see '%s --help'", args[0], cmd.CommandPath())
}

func (o *Operator) kinds() []string {
	var kinds []string
	for _, c := range o.controllers {
		if c.Controller != nil {
			kinds = append(kinds, c.Kind().Kind)
		}
	}
	return kinds
}

// runFlags are what the run command can be told.
type runFlags struct {
	kubeconfig string
	context    string
	namespaces namespaces
	workers    int
	limits     limits
	filter     string
	// period counts if periodic tells that it was given.
	period    time.Duration
	periodic  bool
	election  LeaderElection
	logLevel  string
	logFormat string

	dryRun    bool
	resources []string
	outputDir string

	showSecrets, showDisabled bool
}

func (o *Operator) runCommand() *cobra.Command {
	flags := runFlags{election: o.election}
	command := &cobra.Command{
		Use:   "run",
		Short: "Watch the cluster and reconcile until stopped, or render without a cluster (--dry-run)",
		Example: fmt.Sprintf("  %[1]s run\n  %[1]s run --namespace shop\n  %[1]s run --namespace 'team-*,!team-x' --namespace-selector tier=prod\n  %[1]s run --dry-run --cr sample.yaml\n  %[1]s run --dry-run --cr sample.yaml --output-dir rendered",
			o.name),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if err := flags.check(cmd.Flags().Changed); err != nil {
				return err
			}
			logger, err := newLogger(cmd.ErrOrStderr(), flags.logLevel, flags.logFormat)
			if err != nil {
				return err
			}
			if flags.dryRun {
				return o.dryRun(cmd.Context(), cmd.OutOrStdout(), logger, flags)
			}
			return o.run(cmd.Context(), logger, flags)
		},
	}
	set := command.Flags()
	set.StringVar(&flags.kubeconfig, "kubeconfig", "", "file that says where the API server is (default: KUBECONFIG, ~/.kube/config, or the Pod's service account)")
	set.StringVar(&flags.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.namespaces.flags(command)
	set.IntVar(&flags.workers, "workers", 0, "how many resources are reconciled at once (default: four for each processor, at least 4, at most 32)")
	flags.limits.flags(command)
	set.Var((*duration)(&flags.period), "reconcile-period", "after what time a resource to which nothing happens is reconciled again at the latest, 0: never (default: 10m once it is complete)")
	set.StringVar(&flags.filter, "filter", "", "which changes of a resource count: default, annotation or user-annotation as in oper8 (default: all but those of the status)")
	flags.election.flags(command)
	set.StringVar(&flags.logLevel, "log-level", "info", "debug, info, warn or error")
	set.StringVar(&flags.logFormat, "log-format", "text", "text or json")
	set.BoolVar(&flags.dryRun, "dry-run", false, "render the resources given by --cr without a cluster and end")
	set.StringArrayVarP(&flags.resources, "cr", "c", nil, "file with resources to render, '-' for standard input; repeatable (with --dry-run)")
	set.StringVar(&flags.outputDir, "output-dir", "", "write one file per component below this directory instead of printing (with --dry-run)")
	set.BoolVar(&flags.showSecrets, "show-secrets", false, "leave the values of Secrets in the clear, as is needed to apply the output (with --dry-run)")
	set.BoolVar(&flags.showDisabled, "show-disabled", false, "write disabled components too, below DISABLED (with --output-dir)")
	return command
}

// check refuses combinations of which one part would be ignored, and puts the namespaces in order.
func (f *runFlags) check(given func(flag string) bool) error {
	if f.dryRun {
		for _, flag := range clusterFlags() {
			if given(flag) {
				return usage("--%s goes without --dry-run, which asks no cluster", flag)
			}
		}
	}
	switch {
	case f.dryRun && len(f.resources) == 0:
		return usage("--dry-run needs the resource to render: add --cr FILE")
	case !f.dryRun && len(f.resources) > 0:
		return usage("--cr goes with --dry-run")
	case !f.dryRun && f.outputDir != "":
		return usage("--output-dir goes with --dry-run")
	case !f.dryRun && f.showSecrets:
		return usage("--show-secrets goes with --dry-run")
	case f.showDisabled && f.outputDir == "":
		return usage("--show-disabled goes with --output-dir")
	case given("workers") && f.workers < 1:
		return usage("--workers %d: at least 1 is needed", f.workers)
	case f.period < 0:
		return usage("--reconcile-period %s: it can't be negative; 0 is never", f.period)
	}
	f.periodic = given("reconcile-period")
	if _, err := filter.Named(f.filter, ""); err != nil {
		return usage("--%w", err)
	}
	if err := f.limits.check(given); err != nil {
		return err
	}
	if err := f.election.check(given); err != nil {
		return err
	}
	return f.namespaces.check()
}

// clusterFlags are the flags that say something of a cluster.
func clusterFlags() []string {
	flags := []string{"kubeconfig", "context", "workers", "reconcile-period", "filter"}
	return slices.Concat(flags, limitFlags, namespaceFlags, electionFlags)
}

func newLogger(out io.Writer, level, format string) (*slog.Logger, error) {
	var minimum slog.Level
	if err := minimum.UnmarshalText([]byte(level)); err != nil {
		return nil, usage("--log-level %q: use debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: minimum}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(out, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return nil, usage("--log-format %q: use text or json", format)
}
