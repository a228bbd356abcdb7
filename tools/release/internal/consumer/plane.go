package consumer

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// envtest is the package through which tests reach a control plane.
const envtest = "github.com/operkit/operkit/tools/envtest"

// plane is the control plane of one module's tests, as what tests of two modules define may be in each other's way.
type plane struct {
	log     io.Writer
	cluster *devcluster.Cluster
}

// start starts it, unless the environment names one already, and gives what tests are told of it by.
func (p *plane) start(ctx context.Context) ([]string, error) {
	if os.Getenv(devcluster.Variable) != "" {
		return nil, nil
	}
	binary, err := devcluster.Binary(ctx, p.log)
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	if p.cluster, err = devcluster.Start(ctx, devcluster.StartOptions{Progress: p.log}); err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	return []string{devcluster.BinaryVariable + "=" + binary, devcluster.Variable + "=" + p.cluster.Dir()}, nil
}

// stop ends one that was started.
func (p *plane) stop(ctx context.Context) error {
	if p.cluster == nil {
		return nil
	}
	return p.cluster.Stop(ctx)
}
