package main

import (
	"context"
	"fmt"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const image = "memcached:1.6.26-alpine3.19"

// Memcached controls memcacheds: one Deployment each, with the name of the resource.
type Memcached struct{}

// Kind implements reconcile.Controller.
func (Memcached) Kind() schema.GroupVersionKind { return v1.MemcachedKind }

// Setup implements reconcile.Controller.
func (Memcached) Setup(_ context.Context, s *reconcile.Session) error {
	var cache v1.Memcached
	if err := s.Into(&cache); err != nil {
		return err
	}
	s.Add("memcached").Add("deployment", deployment(s, cache.Spec))
	return nil
}

func deployment(s *reconcile.Session, spec v1.MemcachedSpec) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(s.Name(), s.Namespace()).
		WithLabels(labels(s)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(spec.Size).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels(s)).
				WithSpec(corev1ac.PodSpec().
					WithSecurityContext(corev1ac.PodSecurityContext().
						WithRunAsNonRoot(true).
						WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
					WithContainers(container(spec)))))
}

// container returns a container that the Pod Security level "restricted" allows.
func container(spec v1.MemcachedSpec) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName("memcached").
		WithImage(image).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand("memcached", "--memory-limit=64", "-o", "modern", "-v", fmt.Sprintf("--port=%d", spec.ContainerPort)).
		WithPorts(corev1ac.ContainerPort().WithName("memcached").WithContainerPort(spec.ContainerPort)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(1001).
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// labels returns labels with the name of the resource, so that two memcacheds in a namespace don't select each other's
// Pods. They don't depend on the release, since a selector can't be changed.
func labels(s *reconcile.Session) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "memcached",
		"app.kubernetes.io/instance":   reconcile.Truncate(s.Name()),
		"app.kubernetes.io/managed-by": "memcached-operator",
	}
}
