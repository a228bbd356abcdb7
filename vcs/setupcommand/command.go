package setupcommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/operkit/operkit/vcs"
	"github.com/spf13/cobra"
)

// settings are the values of the flags.
type settings struct {
	source, destination string
	tags, branches      []string
	noTags, prefix      bool
	tagsAs              string
	force, dryRun       bool
	verify, quiet       bool
	output              string
}

// New returns the command setup-vcs, for use as a program or as a subcommand. The command parses its flags itself, and
// also the flags of its parent commands. It doesn't print the error that it returns; [ExitCode] returns the exit code
// for the error. While the command works, SIGPIPE doesn't end the process.
func New() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:                   "setup-vcs --source PATH [flags]",
		Short:                 "Make a git repository of single versions from a repository with a history",
		Example:               examples,
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,
		// execute parses the flags, after it has replaced oper8's -te.
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&s.source, "source", "s", "", "`PATH` of the repository with the history, bare or not")
	flags.StringVarP(&s.destination, "destination", "d", "operator_vcs", "`PATH` of the repository to make")
	flags.StringArrayVarP(&s.tags, "tag-expr", "t", nil, "keep tags that the expression `RE` matches; repeat the flag for more expressions (default "+vcs.DefaultTags+")")
	flags.StringArrayVarP(&s.branches, "branch-expr", "b", nil, "keep local branches that the expression `RE` matches; repeat the flag for more expressions (default none)")
	flags.BoolVar(&s.noTags, "no-tags", false, "keep no tags")
	flags.BoolVar(&s.prefix, "prefix", false, "an expression has to match only the beginning of a name")
	flags.StringVar(&s.tagsAs, "tags-as", string(vcs.AsBranches), "turn tags into `branches|tags`")
	flags.BoolVarP(&s.force, "force", "f", false, "replace the destination when the new repository is complete")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be kept, and write nothing")
	flags.BoolVar(&s.verify, "verify", false, "check the new repository before it is moved to the destination")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors, and the report of -o json")
	flags.StringVarP(&s.output, "output", "o", "text", "print the report as `text|json`")
	command.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = io.WriteString(cmd.OutOrStdout(), help(cmd, columnsOf(cmd.OutOrStdout())))
	})
	command.RunE = func(cmd *cobra.Command, args []string) error { return s.execute(cmd, args) }
	return command
}

// Execute runs the command as a program and returns the exit code. args are the arguments without the program's name.
// The end of ctx interrupts the command.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := New()
	command.Version = "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		command.Version = info.Main.Version
	}
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "%s: %s\n", command.Name(), printable(err.Error()))
	}
	return ExitCode(err)
}

// execute parses the arguments and runs the command.
func (s *settings) execute(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	if err := flags.Parse(fromOper8(flags, args)); err != nil {
		return usage(explained(cmd, err))
	}
	if asked, _ := flags.GetBool("help"); asked {
		return cmd.Help()
	}
	// Cobra adds this flag to a command that has a version.
	if asked, err := flags.GetBool("version"); asked && err == nil {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), cmd.Name(), cmd.Version)
		return err
	}
	if err := s.check(flags.Args()); err != nil {
		return usage(fmt.Errorf("%w: see '%s --help'", err, cmd.CommandPath()))
	}
	return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// check refuses wrong arguments.
func (s *settings) check(rest []string) error {
	switch {
	case len(rest) > 0 && s.source == "":
		return fmt.Errorf("%q: unexpected argument: give the repository with --source", rest[0])
	case len(rest) > 0:
		return fmt.Errorf("%q: unexpected argument: repeat the flag for each expression", rest[0])
	case s.source == "":
		return errors.New("no source is given: name it with --source")
	case s.noTags && len(s.tags) > 0:
		return errors.New("--no-tags and --tag-expr: use one of them")
	case s.noTags && len(s.branches) == 0:
		return errors.New("--no-tags: name branches with --branch-expr, or nothing is kept")
	case s.output != "text" && s.output != "json":
		return fmt.Errorf("--output %q: use text or json", s.output)
	}
	return nil
}
