package operator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command builds the commands of the binary.
func (o *Operator) command() *cobra.Command {
	root := &cobra.Command{
		SuggestionsMinimumDistance: 2,
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: o.callName()},
		Use:                        o.name,
		Short:                      "Kubernetes operator for " + strings.Join(o.kinds(), ", "),
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noArguments,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	s := o.newSettings()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			return usage("%w%s (see '%s --help')", err, suggestFlag(cmd, unknown.GetSpecifiedName()), cmd.CommandPath())
		}
		return usage("%w: see '%s --help'", err, cmd.CommandPath())
	})
	root.PersistentFlags().AddFlagSet(s.Flags())
	root.SetHelpFunc(helpWith(s.Flags(), root.HelpFunc()))
	root.AddCommand(
		o.runCommand(s), o.renderCommand(s), o.graphCommand(s), o.diffCommand(s), o.reconcileCommand(s), o.statusCommand(s), o.triggerCommand(s), o.pauseCommand(s), o.resumeCommand(s), o.takeBackCommand(s),
		o.configCommand(s), o.checkHeartbeatCommand(s), o.versionCommand(s),
	)
	for _, build := range o.commands {
		root.AddCommand(build(func(cmd *cobra.Command, prepare ...func(*config.Settings)) (Process, error) {
			for _, change := range prepare {
				change(s)
			}
			p, err := o.open(cmd, s)
			if err != nil {
				return Process{}, err
			}
			return o.about(p), nil
		}))
	}
	return root
}

// Opener reads the settings of the process for a command, with what prepare has changed of how they are read.
type Opener func(cmd *cobra.Command, prepare ...func(*config.Settings)) (Process, error)

// Command adds a command of the program's own: build makes it, and what it runs calls open for the settings. An error that it returns is told,
// and the exit code is 1, or that of its method ExitCode() int.
func Command(build func(open Opener) *cobra.Command) Option {
	return func(o *Operator) { o.commands = append(o.commands, build) }
}

// showSettings marks commands whose help has all settings of the process.
const showSettings = "settings"

// everywhere are the settings that the help of each command has.
var everywhere = []string{"config", "kubeconfig", "context", "log.level"}

// helpWith leaves most settings out of the help of commands that have little use for them.
func helpWith(settings *pflag.FlagSet, help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if _, all := cmd.Annotations[showSettings]; !all {
			settings.VisitAll(func(f *pflag.Flag) { f.Hidden = f.Hidden || !slices.Contains(everywhere, f.Name) })
		}
		if columns, _, is := sizeOf(cmd.OutOrStdout()); is {
			cmd.Short, cmd.Long = paragraphs(cmd.Short, columns), paragraphs(cmd.Long, columns)
			for _, below := range cmd.Commands() {
				beside := below.NamePadding() + len("   ")
				below.Short = strings.Join(wrap(below.Short, max(columns-beside, least)), "\n"+strings.Repeat(" ", beside))
			}
			// Of flags cobra's template wraps nothing.
			cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", columns)))
		}
		help(cmd, args)
	}
}

// paragraphs wraps each line of a text.
func paragraphs(text string, columns int) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, wrap(line, columns)...)
	}
	return strings.Join(lines, "\n")
}

// newSettings are the settings of the process before anything is said of them.
func (o *Operator) newSettings() *config.Settings {
	s := config.New(o.name, func(c *config.Config) {
		for _, change := range o.defaults {
			change(c)
		}
	}, append(slices.Clone(o.settings), config.Kinds(o.kinds()...), config.NamespaceFile(o.namespaceFile))...)
	for _, add := range o.ownFlags {
		add(s.Flags())
	}
	return s
}

// suggestFlag is what whoever wrote the name of a flag may have meant, as the end of a sentence.
func suggestFlag(cmd *cobra.Command, name string) string {
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return config.Suggestion(name, known, "--")
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasParent() {
		return usage("%q: %s takes no arguments: see '%s --help'", args[0], cmd.Name(), cmd.CommandPath())
	}
	for _, near := range cmd.SuggestionsFor(args[0]) {
		return usage("unknown command %q: did you mean %s?", args[0], near)
	}
	return usage("unknown command %q: see '%s --help'", args[0], cmd.CommandPath())
}

// example is a kind for examples, as kubectl has it.
func (o *Operator) example() string {
	for _, kind := range o.kinds() {
		return strings.ToLower(kind)
	}
	return "KIND"
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
