package command

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/control"
)

// offline are the subcommands of kubectl that need no cluster.
var offline = []string{"help", "completion", "kustomize", "options", "plugin", "config"}

func newKubectl(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [--dir DIR] ARGUMENTS...",
		Short: "The real kubectl, pointed at the cluster",
		Long: `The real kubectl, as the administrator of the cluster. --dir must come before kubectl's own
arguments. Its --kubeconfig flag works as ever, for instance for another user.`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, arguments []string) error { return p.kubectl(cmd.Context(), arguments) },
	}
}

func (p *Program) kubectl(ctx context.Context, arguments []string) error {
	arguments, err := p.takeDir(arguments)
	if err != nil {
		return err
	}
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	if needsCluster(arguments) && !dir.Served(ctx) {
		return describe(dir, control.ErrNotRunning)
	}
	if err := os.Setenv("KUBECONFIG", dir.Kubeconfig()); err != nil {
		return err
	}
	if code := p.Kubectl(arguments); code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// takeDir removes a leading --dir from the arguments and uses its value.
func (p *Program) takeDir(arguments []string) ([]string, error) {
	if len(arguments) == 0 {
		return arguments, nil
	}
	if value, ok := strings.CutPrefix(arguments[0], "--dir="); ok {
		p.dir = value
		return arguments[1:], nil
	}
	if arguments[0] != "--dir" {
		return arguments, nil
	}
	if len(arguments) == 1 {
		return nil, errors.New("--dir needs a directory")
	}
	p.dir = arguments[1]
	return arguments[2:], nil
}

// needsCluster reports whether kubectl needs the cluster for these arguments.
func needsCluster(arguments []string) bool {
	if len(arguments) == 0 || slices.Contains(offline, arguments[0]) {
		return false
	}
	for _, argument := range arguments {
		if argument == "-h" || argument == "--help" || argument == "--client" ||
			argument == "--kubeconfig" || strings.HasPrefix(argument, "--kubeconfig=") {
			return false
		}
		if argument == "--" {
			break
		}
	}
	return true
}
