package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

func newKubeconfig(p *Program) *cobra.Command {
	var user string
	var groups []string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print a client configuration, for any user",
		Long: `Print a client configuration for the running cluster. With --user it has a new client certificate
for a user of that name and those groups, who may do what RBAC rules grant and nothing else; without,
it is the administrator's.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.kubeconfig(cmd.Context(), user, groups) },
	}
	cmd.Flags().StringVar(&user, "user", "", "user name (default: the administrator)")
	cmd.Flags().StringArrayVar(&groups, "group", nil, "group of the user; may be repeated")
	return cmd
}

func (p *Program) kubeconfig(ctx context.Context, user string, groups []string) error {
	if user == "" && len(groups) > 0 {
		return errors.New("--group needs --user")
	}
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	s, err := control.NewClient(dir.ControlSocket()).Status(ctx)
	if err != nil {
		return describe(dir, err)
	}
	var content []byte
	if user == "" {
		content, err = os.ReadFile(dir.Kubeconfig())
	} else {
		content, err = cluster.Kubeconfig(dir, s.Server, user, groups...)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	_, err = p.Stdout.Write(content)
	return err
}

// describe adds the directory in which no cluster runs, and what to do.
func describe(dir workdir.Dir, err error) error {
	if errors.Is(err, control.ErrNotRunning) {
		return fmt.Errorf("no cluster runs in %s: start one with 'devcluster up', or give its directory with --dir or $%s", dir, workdir.Environment)
	}
	return err
}
