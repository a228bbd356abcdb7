package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const webPort = 8080

// web is the component that visitors see.
type web struct{ spec v1.GuestbookSpec }

// Build implements reconcile.Builder.
func (w web) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	c.Add("config", corev1ac.ConfigMap(s.ScopedName("web"), s.Namespace()).
		WithLabels(labels(s, "web")).
		WithData(map[string]string{"message": w.spec.Message}))
	c.Add("service", corev1ac.Service(s.ScopedName("web"), s.Namespace()).
		WithLabels(labels(s, "web")).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(labels(s, "web")).
			WithPorts(corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http")))))
	c.Add("server", w.deployment(s))
	return nil
}

func (w web) deployment(s *reconcile.Session) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().
		WithName("web").
		WithImage(w.spec.Image).
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(webPort)).
		WithEnv(corev1ac.EnvVar().WithName("MESSAGE").
			WithValueFrom(corev1ac.EnvVarSource().WithConfigMapKeyRef(corev1ac.ConfigMapKeySelector().
				WithName(s.ScopedName("web")).WithKey("message"))))
	if w.spec.Redis.Enabled {
		container.WithEnv(corev1ac.EnvVar().WithName("REDIS_HOST").WithValue(s.ScopedName("redis")), redisPassword(s))
	}
	return appsv1ac.Deployment(s.ScopedName("web"), s.Namespace()).
		WithLabels(labels(s, "web")).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(w.spec.Size).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s, "web"))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels(s, "web")).
				// Containers read the message when they start, so another message needs new Pods.
				WithAnnotations(map[string]string{"examples.operkit.dev/message": digest(w.spec.Message)}).
				WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
