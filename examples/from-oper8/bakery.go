package main

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
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
	oven.Add("recipes", corev1ac.ConfigMap(s.ScopedName("recipes"), s.Namespace()).WithData(map[string]string{"bread": bakery.Spec.Bread}))
	oven.Add("deployment", deployment(s))
	counter := s.Add("counter").After(oven, reconcile.Ready)
	counter.Add("service", service(s))
	return nil
}

func deployment(s *reconcile.Session) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().WithName("oven").WithImage("registry.example.com/oven:1.0").
		WithEnvFrom(corev1ac.EnvFromSource().WithConfigMapRef(corev1ac.ConfigMapEnvSource().WithName(s.ScopedName("recipes"))))
	return appsv1ac.Deployment(s.ScopedName("oven"), s.Namespace()).WithSpec(appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

func service(s *reconcile.Session) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(s.ScopedName("counter"), s.Namespace()).WithSpec(corev1ac.ServiceSpec().
		WithSelector(labels(s)).WithPorts(corev1ac.ServicePort().WithPort(80)))
}

func labels(s *reconcile.Session) map[string]string {
	return map[string]string{"bakery": reconcile.Truncate(s.Name())}
}

// Finalize implements reconcile.Finalizer: the counter closes first. A bakery that has the finalizer of oper8 keeps it.
func (Bakery) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, service(s))
}
