package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

func newStatus(p *Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the cluster is ready",
		Long: `Say whether the cluster is ready, after asking its components. The exit code is 0 when it is and 1
when it is not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.status(cmd.Context(), output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func (p *Program) status(ctx context.Context, output string) error {
	if output != "text" && output != "json" {
		return fmt.Errorf("output %q is unknown: choose text or json", output)
	}
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	s, err := currentState(ctx, dir)
	if err != nil {
		return err
	}
	if output == "json" {
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(s)
	} else {
		err = printState(p.Stdout, dir, s)
	}
	if err == nil && !s.Ready {
		return &exitError{code: 1}
	}
	return err
}

// currentState asks the supervisor for the state. Without a supervisor the state file says how the last cluster ended.
func currentState(ctx context.Context, dir workdir.Dir) (state.State, error) {
	s, err := control.NewClient(dir.ControlSocket()).Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return s, err
	}
	s, err = state.Read(dir.State())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state.State{Phase: state.Stopped, Message: "no cluster runs here", Components: []state.Component{}}, nil
	case err != nil:
		return s, err
	case s.Phase != state.Failed && s.Phase != state.Stopped:
		return s.Ended(state.Failed, "the supervisor is gone"), nil
	}
	return s, nil
}

func printState(w io.Writer, dir workdir.Dir, s state.State) error {
	fmt.Fprintf(w, "cluster in %s: %s\n", dir, s.Phase)
	if s.Message != "" {
		fmt.Fprintln(w, s.Message)
	}
	if s.SupervisorPID == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Kubernetes\t%s\nserver\t%s\nkubeconfig\t%s\nsupervisor\tpid %d\n", s.Version, s.Server, s.Kubeconfig, s.SupervisorPID)
	if s.AuditLog != "" {
		fmt.Fprintf(table, "audit log\t%s\n", s.AuditLog)
	}
	for _, c := range s.Components {
		fmt.Fprintf(table, "%s\t%s\tpid %d\t%s\n", c.Name, c.Phase, c.PID, c.Log)
	}
	return table.Flush()
}
