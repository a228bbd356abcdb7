package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// view is the output of a command: a table for people, or a document for programs.
type view interface {
	table(out io.Writer) error
	document() any
}

// output is the format in which a command prints a view.
type output string

func (o *output) flag(command *cobra.Command) {
	command.Flags().StringVarP((*string)(o), "output", "o", "table", "table, yaml or json")
	completesOutput(command, "table", "yaml", "json")
}

func (o output) print(out io.Writer, v view) error {
	switch o {
	case "table":
		return v.table(out)
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v.document())
	case "yaml":
		content, err := yaml.Marshal(v.document())
		if v, ok := v.(interface{ yaml() ([]byte, error) }); ok {
			content, err = v.yaml()
		}
		if err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	}
	return Usage("--output %q: use table, yaml or json", o)
}
