package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func newVersion(p *Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of what is in this program",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return p.printVersion(output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func (p *Program) printVersion(output string) error {
	versions := maps.Clone(p.Versions)
	if versions == nil {
		versions = map[string]string{}
	}
	versions["kubernetes"] = p.Version
	switch output {
	case "json":
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(versions)
	case "text":
		fmt.Fprintln(p.Stdout, "kubernetes", p.Version)
		delete(versions, "kubernetes")
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			fmt.Fprintln(p.Stdout, name, versions[name])
		}
		return nil
	}
	return fmt.Errorf("output %q is unknown: choose text or json", output)
}
