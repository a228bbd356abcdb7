package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
)

func newComponent(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "component stop|start|restart NAME",
		Short: "Stop, start or restart one component of a running cluster",
		Long: `Stop, start or restart one component of a running cluster, and return when it is done: when the
process is gone, or when the component answers and the cluster is ready again (unless another one
is stopped). A component keeps its port and its data. Restart the controller-manager after new
CustomResourceDefinitions: it finds them at once then, and otherwise only every 30 seconds.

Components: ` + component.All().String(),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			return p.component(cmd.Context(), arguments[0], arguments[1])
		},
	}
}

func (p *Program) component(ctx context.Context, verb, name string) error {
	action, err := control.ParseAction(verb)
	if err != nil {
		return err
	}
	n, err := component.Parse(name)
	if err != nil {
		return err
	}
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	if err := control.NewClient(dir.ControlSocket()).Act(ctx, n, action); err != nil {
		return describe(dir, err)
	}
	done := map[control.Action]string{control.Start: "started", control.Stop: "stopped", control.Restart: "restarted"}
	fmt.Fprintf(p.Stdout, "%s is %s\n", n, done[action])
	return nil
}
