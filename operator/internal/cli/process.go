package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/heartbeat"
	"github.com/spf13/cobra"
)

// runCommand runs the operator. With --dry-run it renders like renderCommand.
func (o *Operator) runCommand() *cobra.Command {
	var dryRun bool
	r := rendering{from: "cr"}
	command := &cobra.Command{
		Annotations: map[string]string{showSettings: ""},
		Use:         "run",
		SuggestFor:  []string{"start", "serve", "manager", "operate"},
		Short:       "Watch the cluster and reconcile until stopped, or render without a cluster (--dry-run)",
		Example: fmt.Sprintf("  %[1]s run\n  %[1]s run --namespace shop\n  %[1]s run --namespace 'team-*,!team-x'\n  %[1]s run --priority 100 --peering.namespace shop\n"+
			"  %[1]s run --dry-run --cr sample.yaml\n  %[1]s run --dry-run --cr sample.yaml --output-dir rendered", o.Called),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun && len(r.files) == 0 {
				return Usage("--dry-run needs the resource to render: add --cr FILE")
			}
			for _, name := range renderFlags {
				if !dryRun && cmd.Flags().Changed(name) {
					return Usage("--%s needs --dry-run", name)
				}
			}
			p, err := o.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if dryRun {
				return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o, p)
			}
			return p.Run(cmd.Context())
		},
	}
	o.Settings.Alias(command.Flags(), "namespace", "n", "watch.namespaces")
	o.Settings.Alias(command.Flags(), "priority", "", "peering.priority")
	command.Flags().BoolVar(&dryRun, "dry-run", false, "render the resources of --cr without a cluster, and exit")
	r.flags(command, "c", " (with --dry-run)")
	return command
}

func (o *Operator) checkHeartbeatCommand() *cobra.Command {
	var file, delta string
	command := &cobra.Command{
		Use:   "check-heartbeat",
		Short: "Fail if the running operator has written no recent heartbeat",
		Long: "Fail if the file of the setting heartbeat.file is missing or has no recent heartbeat. The running operator writes it while it makes\n" +
			"progress. Use this command in the liveness probe of a Pod. An HTTP probe needs no file, see the setting health.address.",
		Example: fmt.Sprintf("  %[1]s check-heartbeat --heartbeat.file /tmp/heartbeat\n  %[1]s check-heartbeat --file /tmp/heartbeat --delta 90s", o.Called),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			oldest := 2 * p.Heartbeat.Period
			if delta != "" {
				if oldest, err = durationOf(delta); err != nil {
					return err
				}
			}
			if file = cmp.Or(file, p.Heartbeat.File); file == "" {
				return Usage("no heartbeat file is given: use --file, or the setting heartbeat.file")
			}
			return heartbeat.Check(file, oldest, time.Now())
		},
	}
	command.Flags().StringVarP(&file, "file", "f", "", "heartbeat file (default: the setting heartbeat.file)")
	command.Flags().StringVarP(&delta, "delta", "d", "", "how old the last heartbeat may be: a duration such as 90s, or a number of seconds (default: twice the setting heartbeat.period)")
	return command
}

// durationOf reads a duration, or a number of seconds as in oper8.
func durationOf(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	d, err := config.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, Usage("--delta %q: use a duration such as 90s or 5m, or a number of seconds", text)
	}
	return d, nil
}

func (o *Operator) versionCommand() *cobra.Command {
	var output output
	command := &cobra.Command{
		Use:     "version",
		Short:   "Show the version of the operator and how it was built",
		Example: fmt.Sprintf("  %[1]s version\n  %[1]s version -o json", o.Called),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), newBuild(o.Name, p.Versions.Operator))
		},
	}
	output.flag(command)
	return command
}

// build describes how the program was built, as far as that is known.
type build struct {
	Operator string `json:"operator"`
	Version  string `json:"version"`
	// Operkit is the version of this module.
	Operkit  string `json:"operkit,omitempty"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Version returns the version of the program: the configured version, or else the version of the main module.
func Version(configured string) string { return newBuild("", configured).Version }

func newBuild(name, version string) build {
	b := build{Operator: name, Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, known := debug.ReadBuildInfo()
	if !known {
		return b
	}
	b.Version = cmp.Or(version, info.Main.Version)
	for _, module := range info.Deps {
		if module.Path == "github.com/operkit/operkit/operator" {
			b.Operkit = module.Version
		}
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Revision = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

func (b build) table(out io.Writer) error {
	revision := b.Revision
	if b.Modified {
		revision += ", modified"
	}
	rows := [][]string{{b.Operator, b.Version}}
	for _, row := range [][]string{{"operkit", b.Operkit}, {"revision", revision}, {"go", b.Go}, {"platform", b.Platform}} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	return writeWhole(out, rows)
}

func (b build) document() any { return b }
