package main

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Bakery controls resources of the kind Bakery.
type Bakery struct{}

// Kind implements reconcile.Controller.
func (Bakery) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Bakery"}
}

// Setup implements reconcile.Controller. Components and objects have the names that they had, by which temporary
// patches find them.
func (Bakery) Setup(_ context.Context, s *reconcile.Session) error {
	var bakery struct {
		Spec struct {
			Bread string `json:"bread"`
		} `json:"spec"`
	}
	if err := s.Into(&bakery); err != nil {
		return err
	}
	oven := s.Add("oven")
	oven.Add("recipes", corev1.ConfigMap(s.ScopedName("recipes"), s.Namespace()).WithData(map[string]string{"bread": bakery.Spec.Bread}))
	oven.Add("deployment", deployment(s))
	counter := s.Add("counter").After(oven, reconcile.Ready)
	counter.Add("service", service(s))
	return nil
}

func deployment(s *reconcile.Session) *appsv1.DeploymentApplyConfiguration {
	container := corev1.Container().WithName("oven").WithImage("registry.example.com/oven:1.0").
		WithEnvFrom(corev1.EnvFromSource().WithConfigMapRef(corev1.ConfigMapEnvSource().WithName(s.ScopedName("recipes"))))
	return appsv1.Deployment(s.ScopedName("oven"), s.Namespace()).WithSpec(appsv1.DeploymentSpec().
		WithSelector(metav1.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1.PodSpec().WithContainers(container))))
}

func service(s *reconcile.Session) *corev1.ServiceApplyConfiguration {
	return corev1.Service(s.ScopedName("counter"), s.Namespace()).WithSpec(corev1.ServiceSpec().
		WithSelector(labels(s)).WithPorts(corev1.ServicePort().WithPort(80)))
}

func labels(s *reconcile.Session) map[string]string {
	return map[string]string{"bakery": reconcile.Truncate(s.Name())}
}

// Finalize implements reconcile.Finalizer: the counter closes first. A bakery that has the finalizer of oper8 keeps it.
func (Bakery) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, service(s))
}
