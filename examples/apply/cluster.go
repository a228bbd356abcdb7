package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
)

// Time limits for the cluster's first response: for one request, and for all attempts.
const (
	firstAnswer = 3 * time.Second
	firstRetry  = 2 * time.Second
)

// connect returns the Manager for the cluster. It returns an error if the cluster doesn't respond.
func (s settings) connect(ctx context.Context) (*deploy.Manager, error) {
	config, err := cluster.Config(s.kubeconfig, s.context)
	if err != nil {
		return nil, err
	}
	api, err := cluster.New(ctx, config)
	if err != nil {
		return nil, err
	}
	m, err := s.manager(api)
	if err != nil {
		return nil, err
	}
	if err := greet(ctx, m, config); err != nil {
		return nil, &applyError{err}
	}
	return m, nil
}

func (s settings) manager(of deploy.Cluster) (*deploy.Manager, error) {
	return deploy.NewManager(of, deploy.FieldManager("operkit-apply"), deploy.DefaultNamespace(s.namespace))
}

// greet sends the cluster a small request, so that an unreachable cluster is reported immediately and once, instead of
// for each object after all retries.
func greet(ctx context.Context, m *deploy.Manager, config *rest.Config) error {
	if config.ExecProvider == nil { // such a program may ask the user to log in first
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, firstAnswer)
		defer cancel()
	}
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "probe"},
	}}
	_, err := m.Locate(ctx, probe, deploy.RetryFor(firstRetry))
	if err == nil {
		return nil
	}
	advice := "check that it runs and can be reached from here"
	if apierrors.IsUnauthorized(err) {
		advice = "log in again"
	}
	return fmt.Errorf("cluster %s: %w: %s, or choose another with --context or --kubeconfig", config.Host, &rejection{err}, advice)
}

// rejection is an error whose text has only the reason why the cluster refused a request, without the request.
type rejection struct{ error }

func (e *rejection) Unwrap() error { return e.error }

func (e *rejection) Error() string {
	var unavailable *deploy.UnavailableError
	var request *url.Error
	switch {
	case apierrors.IsUnauthorized(e.error):
		return "it doesn't accept the credentials"
	case errors.Is(e.error, context.DeadlineExceeded):
		return "it doesn't answer"
	case errors.As(e.error, &request):
		return request.Err.Error()
	case errors.As(e.error, &unavailable) && unavailable.Err != nil:
		return unavailable.Err.Error()
	}
	return e.error.Error()
}
