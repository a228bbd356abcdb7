package main

import (
	"context"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/bench/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// current is the release that runs.
var current = release.Current()

// bundles controls Bundles.
type bundles struct{}

// Kind implements reconcile.Controller.
func (bundles) Kind() schema.GroupVersionKind { return v1.BundleKind }

// Sources implements source.Provider: the kinds are watched from the start.
func (bundles) Sources() source.Sources {
	owned := []source.Owned{
		{Kind: corev1.SchemeGroupVersion.WithKind("ServiceAccount")},
		{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
		{Kind: corev1.SchemeGroupVersion.WithKind("Service")},
		// Changes of the status and of annotations, which the Deployment controller writes, are ignored.
		{Kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), When: filter.Or(
			filter.Lifecycle(), filter.Generation(), filter.LabelsChanged(), filter.Field("metadata", "ownerReferences"))},
	}
	if current.Token {
		owned = append(owned, source.Owned{Kind: corev1.SchemeGroupVersion.WithKind("Secret")})
	}
	return source.Sources{Owned: owned}
}

// Setup implements reconcile.Controller.
func (bundles) Setup(_ context.Context, s *reconcile.Session) error {
	var bundle v1.Bundle
	if err := s.Into(&bundle); err != nil {
		return err
	}
	s.Use("children", children{bundle.Spec})
	return nil
}

// children is the component with a Bundle's children.
type children struct{ spec v1.BundleSpec }

// Build implements reconcile.Builder.
func (b children) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	name, namespace, size := s.Name(), s.Namespace(), strconv.Itoa(int(b.spec.Size))
	instance := map[string]string{"app.kubernetes.io/instance": name}
	labels := map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": name}
	c.Add("account", corev1ac.ServiceAccount(name, namespace).WithLabels(labels))
	c.Add("message", corev1ac.ConfigMap(name+"-message", namespace).WithLabels(labels).WithData(map[string]string{"message": b.spec.Message}))
	container := corev1ac.Container().
		WithName("web").
		WithImage("registry.example/bundle:1.0").
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(current.CPU), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}))
	if current.Size {
		c.Add("size", corev1ac.ConfigMap(name+"-size", namespace).WithLabels(labels).WithData(map[string]string{"size": size}))
		container.WithEnv(corev1ac.EnvVar().WithName("SIZE").WithValue(size))
	}
	if current.Name {
		container.WithEnv(corev1ac.EnvVar().WithName("NAME").WithValue(name))
	}
	c.Add("service", corev1ac.Service(name, namespace).WithLabels(labels).WithSpec(corev1ac.ServiceSpec().
		WithSelector(instance).
		WithPorts(corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http")))))
	c.Add("deployment", appsv1ac.Deployment(name, namespace).WithLabels(labels).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(0).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(instance)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().
			WithServiceAccountName(name).
			WithContainers(container)))))
	if current.Token {
		c.Add("token", &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-token-", Namespace: namespace, Labels: labels},
			StringData: map[string]string{"token": name},
		}, reconcile.By(deploy.CreateOnly))
	}
	return nil
}

// Verify implements reconcile.Verifier: nobody waits for a rollout.
func (children) Verify(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }
