package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Root returns the root command of the program, with all other commands as its subcommands.
func (o *Operator) Root() *cobra.Command {
	root := &cobra.Command{
		SuggestionsMinimumDistance: 2,
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: o.Called},
		Use:                        o.Name,
		Short:                      summary(o.Settings.Kinds),
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noArguments,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if before := cmd.Flags().Args(); !cmd.HasParent() && len(before) > 0 {
			return noArguments(cmd, before) // the flag is probably one of the command that doesn't exist
		}
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			return Usage("%w%s (see '%s --help')", err, suggestFlag(cmd, unknown.GetSpecifiedName()), cmd.CommandPath())
		}
		return Usage("%w: see '%s --help'", err, cmd.CommandPath())
	})
	root.PersistentFlags().AddFlagSet(o.Settings.Flags())
	root.SetHelpFunc(helpWith(o.Settings.Flags(), root.HelpFunc()))
	root.AddCommand(o.runCommand(), o.renderCommand(), o.graphCommand(), o.diffCommand(), o.reconcileCommand(), o.statusCommand(),
		o.triggerCommand(), o.pauseCommand(), o.resumeCommand(), o.takeBackCommand(), o.releaseCommand(), o.webhooksCommand(), o.freezeCommand(), o.thawCommand(), o.peersCommand(), o.explainCommand(), o.configCommand(), o.checkHeartbeatCommand(), o.versionCommand())
	completesNothing(root)
	root.AddCommand(o.Commands...)
	return root
}

// summary says what the program is. An operator whose kinds are all found at run time names none.
func summary(kinds []string) string {
	if len(kinds) == 0 {
		return "Kubernetes operator"
	}
	return "Kubernetes operator for " + strings.Join(kinds, ", ")
}

// showSettings marks commands whose help lists all settings of the process.
const showSettings = "settings"

// everywhere are the settings that the help of each command lists.
var everywhere = []string{"config", "kubeconfig", "context", "log.level"}

// helpWith hides most settings in the help of commands that have little use for them, and wraps the help for a
// terminal.
func helpWith(flags *pflag.FlagSet, help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if _, all := cmd.Annotations[showSettings]; !all {
			flags.VisitAll(func(f *pflag.Flag) { f.Hidden = f.Hidden || !slices.Contains(everywhere, f.Name) })
		}
		columns := cmp.Or(columnsOf(cmd.OutOrStdout()), helpColumns)
		cmd.Short, cmd.Long = paragraphs(cmd.Short, columns), paragraphs(cmd.Long, columns)
		for _, below := range cmd.Commands() {
			beside := below.NamePadding() + len("   ")
			below.Short = strings.Join(wrap(below.Short, max(columns-beside, least)), "\n"+strings.Repeat(" ", beside))
		}
		// cobra's template doesn't wrap the help of flags, and ends in a line that may be too long.
		cmd.SetUsageTemplate(strings.NewReplacer(".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", columns),
			" for more information about a command.", " for more.").Replace(cmd.UsageTemplate()))
		help(cmd, args)
	}
}

// helpColumns is the width of the help where it isn't shown on a terminal.
const helpColumns = 80

// paragraphs wraps the paragraphs of a text. Between paragraphs there are empty lines. Lines that are indented stay as
// they are.
func paragraphs(text string, columns int) string {
	var lines []string
	var paragraph strings.Builder
	end := func() {
		if paragraph.Len() > 0 {
			lines = append(lines, wrap(paragraph.String(), columns)...)
			paragraph.Reset()
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			paragraph.WriteString(line + " ")
			continue
		}
		end()
		lines = append(lines, line)
	}
	end()
	return strings.Join(lines, "\n")
}

// suggestFlag returns the end of an error, with the flag that the user may have meant.
func suggestFlag(cmd *cobra.Command, name string) string {
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return settings.Suggestion(name, known, "--")
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return Usage("%q: %s takes no arguments: see '%s --help'", args[0], cmd.Name(), cmd.CommandPath())
	}
	near := slices.Sorted(slices.Values(cmd.SuggestionsFor(args[0])))
	if len(near) == 0 {
		return Usage("unknown command %q: see '%s --help'", args[0], cmd.CommandPath())
	}
	text := near[len(near)-1]
	if others := near[:len(near)-1]; len(others) > 0 {
		text = strings.Join(others, ", ") + " or " + text
	}
	return Usage("unknown command %q: did you mean %s?", args[0], text)
}
