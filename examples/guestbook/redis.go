package main

import (
	"context"
	"crypto/rand"

	"github.com/operkit/operkit/reconcile"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
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
	c.Add("password", corev1.Secret(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithStringData(map[string]string{"password": password}))
	c.Add("service", corev1.Service(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithSpec(corev1.ServiceSpec().
			WithClusterIP("None").
			WithSelector(labels(s, "redis")).
			WithPorts(corev1.ServicePort().WithName("redis").WithPort(redisPort))))
	c.Add("store", r.statefulSet(s))
	return nil
}

func (r redis) statefulSet(s *reconcile.Session) *appsv1.StatefulSetApplyConfiguration {
	return appsv1.StatefulSet(s.ScopedName("redis"), s.Namespace()).
		WithLabels(labels(s, "redis")).
		WithSpec(appsv1.StatefulSetSpec().
			WithReplicas(1).
			WithServiceName(s.ScopedName("redis")).
			WithSelector(metav1.LabelSelector().WithMatchLabels(labels(s, "redis"))).
			WithTemplate(corev1.PodTemplateSpec().
				WithLabels(labels(s, "redis")).
				WithSpec(corev1.PodSpec().WithContainers(corev1.Container().
					WithName("redis").
					WithImage(r.config.Redis.Image).
					WithPorts(corev1.ContainerPort().WithName("redis").WithContainerPort(redisPort)).
					WithEnv(redisPassword(s))))))
}

// redisPassword returns an environment variable with the password, for containers that use redis.
func redisPassword(s *reconcile.Session) *corev1.EnvVarApplyConfiguration {
	return corev1.EnvVar().WithName("REDIS_PASSWORD").
		WithValueFrom(corev1.EnvVarSource().WithSecretKeyRef(corev1.SecretKeySelector().
			WithName(s.ScopedName("redis")).WithKey("password")))
}

func labels(s *reconcile.Session, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "guestbook",
		"app.kubernetes.io/instance":  s.Name(),
		"app.kubernetes.io/component": component,
	}
}
