package main

import (
	"context"
	"fmt"
	"os"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// fieldManager is under which the Reconciler's updates are remembered in metadata.managedFields: the user agent, which
// is the name of the binary where nothing else is set ("manager" in a project of kubebuilder).
const fieldManager = "memcached-manager"

// moved runs a command of the operator as it is after the move.
func moved(ctx context.Context, args []string) error {
	op := operator.New("memcached-operator")
	op.Control(Memcached{})
	op.Control(Hello{})
	if code := op.Execute(ctx, args, os.Stdout, os.Stderr); code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
}

// Memcached controls what the MemcachedReconciler did.
type Memcached struct{}

// Kind implements reconcile.Controller.
func (Memcached) Kind() schema.GroupVersionKind { return v1.MemcachedKind }

// Setup implements reconcile.Controller.
func (Memcached) Setup(_ context.Context, s *reconcile.Session) error {
	var cache v1.Memcached
	if err := s.Into(&cache); err != nil {
		return err
	}
	s.Use("memcached", server{cache.Spec})
	return nil
}

// server is the component with the Deployment.
type server struct{ v1.MemcachedSpec }

// Build implements reconcile.Builder.
func (t server) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	labels := map[string]string{"memcached": s.Name()}
	c.Add("deployment", appsv1ac.Deployment(s.Name(), s.Namespace()).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(t.Size).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().
			WithContainers(corev1ac.Container().WithName("memcached").WithImage(image))))))
	return nil
}

// Deploy implements reconcile.Deployer: what the Reconciler had set by updates is ours first, so that what isn't
// rendered goes. Leave it out once no object of the Reconciler's time is left.
func (server) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if _, err := s.Manager().Apply(ctx, c.Objects(), deploy.TakeOverFrom(fieldManager)); err != nil {
		return err
	}
	return c.Apply(ctx)
}
