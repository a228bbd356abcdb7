package main

import (
	"context"

	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Shop controls shops: a Deployment each. It knows version 2 only; the API server converts the others.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind { return v2.ShopKind }

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	var shop v2.Shop
	if err := s.Into(&shop); err != nil {
		return err
	}
	labels := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": reconcile.Truncate(s.Name())}
	container := corev1ac.Container().WithName("shop").WithImage("nginx:1.29-alpine").WithEnv(
		corev1ac.EnvVar().WithName("COLOUR").WithValue(shop.Spec.Appearance.Colour))
	s.Add("shop", appsv1ac.Deployment(s.Name(), s.Namespace()).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(shop.Spec.Replicas).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().WithContainers(container)))))
	return nil
}
