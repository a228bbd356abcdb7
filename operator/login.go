package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"k8s.io/client-go/rest"
)

// Login sets where the commands get the address of the API server and the credentials from. Without it they read the
// kubeconfig of the settings, or the service account of the Pod. connect is called once by each command that needs the
// cluster, before it sends a request. An error or a panic ends the command.
//
// The operator sets the limits and the user agent of its requests; the result is copied, not changed. Credentials that
// expire are renewed by the rest.Config itself: by BearerTokenFile, ExecProvider or WrapTransport.
func Login(connect func(ctx context.Context, c config.Config) (*rest.Config, error)) Option {
	return func(o *Operator) {
		o.login = func(ctx context.Context, c config.Config) (*rest.Config, error) { return login(ctx, c, connect) }
	}
}

// login calls the function of Login.
func login(
	ctx context.Context, c config.Config, connect func(ctx context.Context, c config.Config) (*rest.Config, error),
) (client *rest.Config, err error) {
	if connect == nil {
		return nil, errors.New("login: nil function: pass a function to Login")
	}
	err = guard(func() (err error) {
		client, err = connect(ctx, c)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("login: %w", err)
	case client == nil:
		return nil, errors.New("login: the function returned nil: return a rest.Config or an error")
	}
	return rest.CopyConfig(client), nil
}

// usualLogin reads the kubeconfig of the settings, or the service account of the Pod.
func usualLogin(_ context.Context, c config.Config) (*rest.Config, error) {
	return cluster.Config(c.Kubeconfig, c.Context)
}
