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

// plane is the control plane of tests. It is started when the first module needs it and ends with the bench.
type plane struct {
	log     io.Writer
	cluster *devcluster.Cluster
	env     []string
}

// environ gives what tests are told of the control plane by: nothing more than they have when the environment names one
// already.
func (p *plane) environ(ctx context.Context) ([]string, error) {
	if os.Getenv(devcluster.Variable) != "" || p.cluster != nil {
		return p.env, nil
	}
	binary, err := devcluster.Binary(ctx, p.log)
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	if p.cluster, err = devcluster.Start(ctx, devcluster.StartOptions{Progress: p.log}); err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	p.env = []string{devcluster.BinaryVariable + "=" + binary, devcluster.Variable + "=" + p.cluster.Dir()}
	return p.env, nil
}

func (p *plane) stop(ctx context.Context) error {
	if p.cluster == nil {
		return nil
	}
	return p.cluster.Stop(ctx)
}
