package main

import (
	"context"
	"crypto/rand"

	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

const port = 5432

// server is the component that keeps the data.
type server struct{ spec v1.DatabaseSpec }

// Build implements reconcile.Builder. The claim is an object of its own, and not one of the StatefulSet's
// volumeClaimTemplates, which can't be changed: so its size can grow.
func (r server) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	password, err := s.Generated(ctx, s.ScopedName("password"), "password", func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	c.Add("password", corev1ac.Secret(s.ScopedName("password"), s.Namespace()).
		WithLabels(labels(s, "server")).
		WithType(corev1.SecretTypeBasicAuth).
		WithStringData(map[string]string{"username": "postgres", "password": password}))
	c.Add("service", corev1ac.Service(s.Name(), s.Namespace()).
		WithLabels(labels(s, "server")).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(labels(s, "server")).
			WithPorts(corev1ac.ServicePort().WithName("postgres").WithPort(port))))
	c.Add("data", corev1ac.PersistentVolumeClaim(s.ScopedName("data"), s.Namespace()).
		WithLabels(labels(s, "server")).
		WithSpec(corev1ac.PersistentVolumeClaimSpec().
			WithAccessModes(corev1.ReadWriteOnce).
			WithResources(corev1ac.VolumeResourceRequirements().
				WithRequests(corev1.ResourceList{corev1.ResourceStorage: r.spec.Storage}))),
		reconcile.AndReadyWhen(grown))
	c.Add("server", r.statefulSet(s))
	return nil
}

// grown waits until the volume is as large as the claim wants. By the usual rule a bound claim is ready while it grows.
func grown(_ context.Context, live *unstructured.Unstructured) error {
	var claim corev1.PersistentVolumeClaim
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &claim); err != nil {
		return err
	}
	has, wants := claim.Status.Capacity.Storage(), claim.Spec.Resources.Requests.Storage()
	if claim.Status.Phase == corev1.ClaimBound && has.Cmp(*wants) < 0 {
		return request.Precondition("the volume grows from %s to %s", has, wants)
	}
	return nil
}

func (r server) statefulSet(s *reconcile.Session) *appsv1ac.StatefulSetApplyConfiguration {
	return appsv1ac.StatefulSet(s.Name(), s.Namespace()).
		WithLabels(labels(s, "server")).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(1).
			WithServiceName(s.Name()).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s, "server"))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels(s, "server")).
				WithSpec(pod(s.ScopedName("data"), corev1ac.Container().
					WithName("postgres").
					WithImage(r.spec.Image).
					WithEnv(password(s, "POSTGRES_PASSWORD")).
					WithPorts(corev1ac.ContainerPort().WithName("postgres").WithContainerPort(port)).
					WithReadinessProbe(corev1ac.Probe().
						WithExec(corev1ac.ExecAction().WithCommand("pg_isready", "--username=postgres"))).
					WithVolumeMounts(corev1ac.VolumeMount().WithName("volume").WithMountPath("/var/lib/postgresql"))))))
}

// pod returns a Pod with the volume of a claim, which the Pod Security level "restricted" allows.
func pod(claim string, container *corev1ac.ContainerApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	const postgres = 999 // the user of the image
	return corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(postgres).WithFSGroup(postgres).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container.WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))).
		WithVolumes(corev1ac.Volume().WithName("volume").
			WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(claim)))
}

// password returns an environment variable with the password.
func password(s *reconcile.Session, name string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(s.ScopedName("password")).WithKey("password")))
}
