package main

import (
	"context"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// streets reads the ConfigMaps of streets. Webhooks are answered on every replica, also on those that watch nothing, so
// each street is read from the API server when it is needed.
type streets struct{ port deploy.Port }

// connect is called before the first request to a webhook.
func (s *streets) connect(ctx context.Context, p operator.Process) (func(context.Context) error, error) {
	config, err := cluster.Config(p.Config.Kubeconfig, p.Config.Context)
	if err != nil {
		return nil, err
	}
	api, err := cluster.New(ctx, config, cluster.Logger(p.Logger))
	if err != nil {
		return nil, err
	}
	s.port = api.Port()
	return nil, nil
}

// colours returns the colours that shops in a street may have.
func (s *streets) colours(ctx context.Context, namespace, street string) ([]string, error) {
	ref := deploy.Ref{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Namespace: namespace, Name: street}
	found, err := s.port.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, field.NotFound(field.NewPath("spec", "street"), street)
	}
	colours, _, err := unstructured.NestedString(found.Object, "data", "colours")
	if err != nil || colours == "" {
		return nil, err
	}
	return strings.Split(colours, ","), nil
}
