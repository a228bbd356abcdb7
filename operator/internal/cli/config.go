package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/spf13/cobra"
)

func (o *Operator) configCommand() *cobra.Command {
	var output output
	command := &cobra.Command{
		Annotations: map[string]string{showSettings: ""},
		Use:         "config [KEY...]",
		SuggestFor:  []string{"settings", "env"},
		Short:       "Show the settings that are in effect, and where each comes from",
		Long: "Show the settings that are in effect, and where each comes from: a flag, an environment variable, the file that --config names, or the\n" +
			"program itself, in this order of precedence. With KEYs it shows only these settings and the settings below them. The output of -o yaml is\n" +
			"a file for --config.",
		Example: fmt.Sprintf("  %[1]s config\n  %[1]s config watch log.level\n  %[1]s config --config settings.yaml --log.level debug -o yaml", o.Called),
		RunE: func(cmd *cobra.Command, keys []string) error {
			if _, err := o.Open(cmd.ErrOrStderr()); err != nil {
				return err
			}
			chosen, err := choose(o.Settings, keys)
			if err != nil {
				return err
			}
			return output.print(cmd.OutOrStdout(), settingsView(chosen))
		},
	}
	output.flag(command)
	command.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return o.Settings.Keys(), cobra.ShellCompDirectiveNoFileComp
	}
	return command
}

// choose returns the settings with these keys and the settings below them. Without keys it returns all settings.
func choose(s *settings.Settings, keys []string) ([]settings.Setting, error) {
	all := s.All()
	if len(keys) == 0 {
		return all, nil
	}
	within := func(one settings.Setting, key string) bool {
		return one.Key == key || strings.HasPrefix(one.Key, key+".")
	}
	for _, key := range keys {
		if !slices.ContainsFunc(all, func(one settings.Setting) bool { return within(one, key) }) {
			return nil, Usage("%s: there is no such setting%s", key, settings.Suggestion(key, s.Keys(), ""))
		}
	}
	return slices.DeleteFunc(all, func(one settings.Setting) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return within(one, key) })
	}), nil
}

// settingsView prints settings.
type settingsView []settings.Setting

func (v settingsView) table(out io.Writer) error {
	rows := [][]string{{"KEY", "VALUE", "SOURCE"}}
	for _, one := range v {
		rows = append(rows, []string{one.Key, one.Value, one.Origin.String()})
	}
	return writeWhole(out, rows)
}

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

// yaml returns a file with the same settings.
func (v settingsView) yaml() ([]byte, error) { return settings.Document(v) }
