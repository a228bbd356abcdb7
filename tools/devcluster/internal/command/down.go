package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

const (
	downTimeout  = 10 * time.Second
	downInterval = 10 * time.Millisecond
)

func newDown(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster",
		Long:  "Stop the cluster and return when its last process is gone. Where no cluster runs there is nothing to do.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.down(cmd.Context()) },
	}
}

func (p *Program) down(ctx context.Context) error {
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, downTimeout, fmt.Errorf("it has not ended within %s", downTimeout))
	defer cancel()
	err = control.NewClient(dir.ControlSocket()).Down(ctx)
	if err != nil && !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	notRunning := err != nil
	if err := awaitFree(ctx, dir); err != nil {
		return err
	}
	if notRunning {
		fmt.Fprintf(p.Stdout, "no cluster runs in %s\n", dir)
		return nil
	}
	fmt.Fprintf(p.Stdout, "the cluster in %s is stopped\n", dir)
	return nil
}

// awaitFree waits until no process of the cluster is left.
func awaitFree(ctx context.Context, dir workdir.Dir) error {
	ticker := time.NewTicker(downInterval)
	defer ticker.Stop()
	for {
		taken, err := dir.Taken()
		if err != nil || !taken {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster in %s: %w", dir, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
