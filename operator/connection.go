package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// connection is a cluster that a command asks.
type connection struct {
	deploy.Cluster
	host string
	// namespace is where things are that nobody says another one of.
	namespace string
}

// attach is open for a command that asks a cluster.
func (o *Operator) attach(cmd *cobra.Command, settings *config.Settings) (*process, *connection, error) {
	p, err := o.open(cmd, settings)
	if err != nil {
		return nil, nil, err
	}
	c, err := o.connect(cmd.Context(), p)
	return p, c, err
}

// connect finds the cluster that a command asks. Nothing is sent yet.
func (o *Operator) connect(ctx context.Context, p *process) (*connection, error) {
	client, err := o.clientConfig(p)
	if err != nil {
		return nil, err
	}
	api, err := cluster.New(ctx, client, cluster.Logger(p.logger))
	if err != nil {
		return nil, err
	}
	return &connection{api, client.Host, cluster.DefaultNamespace(p.Kubeconfig, p.Context)}, nil
}

// advice is what to do when the cluster isn't one that answers.
const advice = "check that it runs and can be reached from here, or choose another with --context or --kubeconfig"

// advised says of what a controller couldn't do what to do about it, if the cluster is in the way. Nothing of it is left out: it may
// be several things, and of other services than the cluster.
func (c *connection) advised(err error) error {
	var unavailable *deploy.UnavailableError
	var unknown *deploy.KindUnknownError
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: cluster %s: log in again, or choose another with --context or --kubeconfig", err, c.host)
	case errors.As(err, &unavailable):
		return fmt.Errorf("%w: cluster %s: %s", err, c.host, advice)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: apply its CustomResourceDefinition", err)
	}
	return err
}

// explained says of what the cluster answered to a request what to do about it.
func (c *connection) explained(err error) error {
	var unavailable *deploy.UnavailableError
	var unknown *deploy.KindUnknownError
	var request *url.Error
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("cluster %s: it doesn't accept the credentials: log in again, or choose another with --context or --kubeconfig", c.host)
	case errors.As(err, &request):
		return fmt.Errorf("cluster %s: %w: %s", c.host, request.Err, advice)
	case errors.As(err, &unavailable):
		return fmt.Errorf("cluster %s: %w: %s", c.host, err, advice)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: apply its CustomResourceDefinition", err)
	}
	return err
}
