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
type output struct{ format string }

func (o *output) flag(command *cobra.Command) {
	command.Flags().StringVarP(&o.format, "output", "o", "table", "table, yaml or json")
}

func (o output) print(out io.Writer, v view) error {
	switch o.format {
	case "table":
		return v.table(out)
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v.document())
	case "yaml":
		content, err := yamlOf(v)
		if err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	}
	return Usage("--output %q: use table, yaml or json", o.format)
}

func yamlOf(v view) ([]byte, error) {
	if special, ok := v.(interface{ yaml() ([]byte, error) }); ok {
		return special.yaml()
	}
	return yaml.Marshal(v.document())
}
