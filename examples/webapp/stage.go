package main

import (
	"context"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const (
	port         = 8080
	versionLabel = "app.kubernetes.io/version"
)

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

// stage is the component of one namespace. Its objects have an owner reference to the WebApp. A cluster-scoped resource
// may own objects in any namespace, so the garbage collector deletes them with it.
type stage struct {
	v1.Stage
	image, version string
}

// Build implements reconcile.Builder.
func (t stage) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := t.needsNamespace(ctx, s); err != nil {
		return err
	}
	name := s.ScopedName("web")
	c.Add("config", corev1ac.ConfigMap(name, t.Namespace).
		WithLabels(t.labels(s)).
		WithData(map[string]string{"STAGE": t.Namespace, "VERSION": t.version}))
	c.Add("service", corev1ac.Service(name, t.Namespace).
		WithLabels(selected(s)).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(selected(s)).
			WithPorts(corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http")))))
	c.Add("server", t.deployment(s, name))
	return nil
}

// needsNamespace waits for a namespace that isn't there, or not for long. A dry run may have no cluster to ask.
func (t stage) needsNamespace(ctx context.Context, s *reconcile.Session) error {
	if s.DryRun() {
		return nil
	}
	ref := deploy.Ref{Kind: namespaces, Name: t.Namespace}
	if err := s.Follow(ctx, ref); err != nil {
		return err
	}
	namespace, err := s.Get(ctx, ref)
	switch {
	case err != nil:
		return err
	case namespace == nil:
		return request.Precondition("there is no namespace %s: create it, or take it out of spec.stages", t.Namespace)
	case namespace.GetDeletionTimestamp() != nil:
		return request.Precondition("namespace %s is being deleted: take it out of spec.stages", t.Namespace)
	}
	return nil
}

func (t stage) deployment(s *reconcile.Session, name string) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().
		WithName("web").
		WithImage(t.image + ":" + t.version).
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(port)).
		WithEnvFrom(corev1ac.EnvFromSource().WithConfigMapRef(corev1ac.ConfigMapEnvSource().WithName(name)))
	return appsv1ac.Deployment(name, t.Namespace).
		WithLabels(t.labels(s)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(t.Replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selected(s))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(t.labels(s)).
				WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

// selected returns the labels that select the Pods, whatever their version.
func selected(s *reconcile.Session) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "webapp", "app.kubernetes.io/instance": reconcile.Truncate(s.Name())}
}

func (t stage) labels(s *reconcile.Session) map[string]string {
	labels := selected(s)
	labels[versionLabel] = t.version
	return labels
}
