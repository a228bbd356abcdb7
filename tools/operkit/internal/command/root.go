package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

const rootHelp = `operkit writes a new Kubernetes operator, and adds kinds, components, webhooks and versions to one.

The files are yours: you may edit all of them, and the operator doesn't need operkit any more.
You can run 'add' as often as you like: it creates missing files, adds lines after the lines that
'init' has written, and changes nothing else. 'update' merges what newer versions of operkit write
into your files.

Exit codes:
  0   success, also if everything existed already
  1   failure, or an update with conflicts
  2   wrong arguments; nothing was written`

// usageError ends the program with exitUsage.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// program has the state that the commands share.
type program struct {
	versions project.Versions
	// version is the version of this program.
	version        string
	stdout, stderr io.Writer
}

func (p *program) say(format string, args ...any) { _, _ = fmt.Fprintf(p.stdout, format+"\n", args...) }

// Execute runs the command that args name, and returns the exit code. requirements is a go.mod with the versions that a
// new operator requires. args are the arguments without the program's name.
func Execute(ctx context.Context, requirements []byte, args []string, stdout, stderr io.Writer) int {
	versions, err := project.VersionsOf(requirements)
	if err == nil {
		p := &program{versions, version(), stdout, stderr}
		root := p.root()
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
	}
	var mistake *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &mistake):
		_, _ = fmt.Fprintf(stderr, "operkit: %v\n", err)
		return exitUsage
	}
	_, _ = fmt.Fprintf(stderr, "operkit: %v\n", err)
	return exitFailed
}

// version returns the version of this program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:                        "operkit",
		Short:                      "Write a new operator, and add to one",
		Long:                       rootHelp,
		Version:                    p.version,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       none,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w: see '%s --help'", err, cmd.CommandPath()))
	})
	add := &cobra.Command{
		Use:                        "add",
		SuggestFor:                 []string{"create", "api", "kind", "component", "generate", "webhook", "conversion"},
		Short:                      "Add a component, a kind, a webhook or a version",
		Long:                       "add adds to the operator that the working directory is in.",
		SuggestionsMinimumDistance: 2,
		Args:                       none,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	add.AddCommand(p.addComponent(), p.addKind(), p.addWebhook(), p.addVersion(), p.addConversion())
	root.AddCommand(p.init(), add, p.update())
	return root
}

// none returns an error if there are arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, near := range cmd.SuggestionsFor(args[0]) {
		return usage(fmt.Errorf("unknown command %q: did you mean %s?", args[0], near))
	}
	return usage(fmt.Errorf("unknown command %q: see '%s --help'", args[0], cmd.CommandPath()))
}

// one requires exactly one argument. what describes the argument in errors.
func one(what string) cobra.PositionalArgs { return exactly(1, what) }

// two requires exactly two arguments.
func two(what string) cobra.PositionalArgs { return exactly(2, what) }

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return usage(fmt.Errorf("%s: an argument is missing: give %s: see '%s --help'", cmd.CommandPath(), what, cmd.CommandPath()))
		case len(args) > n:
			return usage(fmt.Errorf("%s: unexpected argument %q: see '%s --help'", cmd.CommandPath(), args[n], cmd.CommandPath()))
		}
		return nil
	}
}
