package main

import (
	"context"
	"crypto/rand"

	"github.com/operkit/operkit/reconcile"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const redisPort = 6379

// redis is the component that keeps the entries.
type redis struct{ config Config }

// Build implements reconcile.Builder.
func (r redis) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	password, err := s.Generated(ctx, s.ScopedName("redis"), "password", func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	c.Add("password", corev1ac.Secret(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithStringData(map[string]string{"password": password}))
	c.Add("service", corev1ac.Service(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP("None").
			WithSelector(labels(s, "redis")).
			WithPorts(corev1ac.ServicePort().WithName("redis").WithPort(redisPort))))
	c.Add("store", r.statefulSet(s))
	return nil
}

func (r redis) statefulSet(s *reconcile.Session) *appsv1ac.StatefulSetApplyConfiguration {
	return appsv1ac.StatefulSet(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(1).
			WithServiceName(s.ScopedName("redis")).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s, "redis"))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels(s, "redis")).
				WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().
					WithName("redis").
					WithImage(r.config.Redis.Image).
					WithPorts(corev1ac.ContainerPort().WithName("redis").WithContainerPort(redisPort)).
					WithEnv(redisPassword(s))))))
}

// redisPassword returns an environment variable with the password, for containers that use redis.
func redisPassword(s *reconcile.Session) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName("REDIS_PASSWORD").
		WithValueFrom(corev1ac.EnvVarSource().WithSecretKeyRef(corev1ac.SecretKeySelector().
			WithName(s.ScopedName("redis")).WithKey("password")))
}

func labels(s *reconcile.Session, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "guestbook",
		"app.kubernetes.io/instance":  s.Name(),
		"app.kubernetes.io/component": component,
	}
}
