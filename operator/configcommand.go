package operator

import (
	"fmt"
	"io"
	"strings"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
)

func (o *Operator) configCommand(settings *config.Settings) *cobra.Command {
	var output output
	command := &cobra.Command{
		Annotations: map[string]string{showSettings: ""},
		Use:         "config [KEY...]",
		Short:       "Show the settings that are in effect, and what says so",
		Long: "Show the settings that are in effect, and what says so: a flag, a variable of the environment, the file that --config names, or the program\n" +
			"itself, in this order of precedence. With KEYs only those, and what is below them. As YAML it is such a file.",
		Example: fmt.Sprintf("  %[1]s config\n  %[1]s config watch log.level\n  %[1]s config --config settings.yaml --log.level debug -o yaml", o.callName()),
		RunE: func(cmd *cobra.Command, keys []string) error {
			if _, err := o.open(cmd, settings); err != nil {
				return err
			}
			chosen, err := choose(settings, keys)
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), settingsView(chosen))
		},
	}
	output.flag(command)
	return command
}

// choose leaves the settings of some keys and of what is below them; of no keys all.
func choose(settings *config.Settings, keys []string) ([]config.Setting, error) {
	all := settings.All()
	if len(keys) == 0 {
		return all, nil
	}
	var chosen []config.Setting
	found := map[string]bool{}
	for _, one := range all {
		for _, key := range keys {
			if one.Key == key || strings.HasPrefix(one.Key, key+".") {
				chosen, found[key] = append(chosen, one), true
				break
			}
		}
	}
	for _, key := range keys {
		if !found[key] {
			var known []string
			for _, one := range all {
				known = append(known, one.Key)
			}
			return nil, usage("%s: there is no such setting%s", key, config.Suggestion(key, known, ""))
		}
	}
	return chosen, nil
}

// settingsView shows settings.
type settingsView []config.Setting

func (v settingsView) table(out io.Writer) error {
	rows := [][]string{{"KEY", "VALUE", "SOURCE"}}
	for _, one := range v {
		rows = append(rows, []string{one.Key, one.Value, one.Origin.String()})
	}
	return writeWhole(out, rows)
}

// document is a list of the settings.
func (v settingsView) document() any {
	type setting struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Source string `json:"source"`
	}
	list := []setting{}
	for _, one := range v {
		item := setting{one.Key, one.Value, one.Origin.String()}
		if one.IsList {
			item.Value = append([]string{}, one.Items...)
		}
		list = append(list, item)
	}
	return list
}

// yaml is the file that says the same.
func (v settingsView) yaml() ([]byte, error) { return config.Document(v) }
