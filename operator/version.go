package operator

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
)

func (o *Operator) versionCommand(settings *config.Settings) *cobra.Command {
	var output output
	command := &cobra.Command{
		Use:     "version",
		Short:   "Show which build this is",
		Example: fmt.Sprintf("  %[1]s version\n  %[1]s version -o json", o.callName()),
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.open(cmd, settings)
			if err != nil {
				return err
			}
			info, _ := debug.ReadBuildInfo()
			return output.print(cmd.OutOrStdout(), newBuild(o.name, p.Versions.Operator, info))
		},
	}
	output.flag(command)
	return command
}

// build says which program this is. What isn't known is empty.
type build struct {
	Operator string `json:"operator"`
	// Version is the operator's own, as it was told or as its module has it.
	Version string `json:"version"`
	// Operkit is the version of this module.
	Operkit  string `json:"operkit,omitempty"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

const ownModule = "github.com/operkit/operkit/operator"

func newBuild(name, version string, info *debug.BuildInfo) build {
	b := build{Operator: name, Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Version = cmp.Or(version, info.Main.Version)
	for _, module := range info.Deps {
		if module.Path == ownModule {
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
