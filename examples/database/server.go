package main

import (
	"context"
	"crypto/rand"
	"strconv"

	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/labels"
	"github.com/operkit/operkit/reconcile/kit/tls"
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
type server struct {
	spec v1.DatabaseSpec
	cert *tls.Certificate
}

// Build implements reconcile.Builder. The claim is an object of its own, and not one of the StatefulSet's
// volumeClaimTemplates, which can't be changed: so its size can grow.
func (r *server) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	password, err := s.Generated(ctx, s.ScopedName("binding"), "password", func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	c.Add("binding", corev1ac.Secret(s.ScopedName("binding"), s.Namespace()).
		WithLabels(labels.Of(s, "server").All()).
		WithType("servicebinding.io/postgresql").
		WithData(map[string][]byte{
			"type": []byte("postgresql"), "host": []byte(host(s)), "port": []byte(strconv.Itoa(port)), "database": []byte("postgres"),
			"username": []byte("postgres"), "password": []byte(password), "ca.crt": r.cert.CA(),
		}))
	c.Add("service", corev1ac.Service(s.Name(), s.Namespace()).
		WithLabels(labels.Of(s, "server").All()).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(labels.Of(s, "server").Selector()).
			WithPorts(corev1ac.ServicePort().WithName("postgres").WithPort(port))))
	c.Add("data", corev1ac.PersistentVolumeClaim(s.ScopedName("data"), s.Namespace()).
		WithLabels(labels.Of(s, "server").All()).
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

func (r *server) statefulSet(s *reconcile.Session) *appsv1ac.StatefulSetApplyConfiguration {
	return appsv1ac.StatefulSet(s.Name(), s.Namespace()).
		WithLabels(labels.Of(s, "server").All()).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(1).
			WithServiceName(s.Name()).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels.Of(s, "server").Selector())).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels.Of(s, "server").Selector()).
				WithSpec(pod(corev1ac.Container().
					WithName("postgres").
					WithImage(r.spec.Image).
					WithArgs("-c", "ssl=on", "-c", "ssl_cert_file=/tls/tls.crt", "-c", "ssl_key_file=/tls/tls.key").
					WithEnv(variable("POSTGRES_PASSWORD", s.ScopedName("binding"), "password")).
					WithPorts(corev1ac.ContainerPort().WithName("postgres").WithContainerPort(port)).
					WithReadinessProbe(corev1ac.Probe().
						WithExec(corev1ac.ExecAction().WithCommand("pg_isready", "--username=postgres"))).
					WithLifecycle(corev1ac.Lifecycle().
						WithPostStart(corev1ac.LifecycleHandler().
							WithExec(corev1ac.ExecAction().WithCommand("sh", "-ec", setPassword)))).
					WithVolumeMounts(mount("volume", "/var/lib/postgresql"), mount("tls", "/tls")),
					claim(s.ScopedName("data")), files("tls", r.cert.Secret(), "tls.crt", "tls.key")))))
}

// setPassword has the server use the password of the Secret, which may be another one than when its data was created.
const setPassword = `until pg_isready --username=postgres; do sleep 1; done
echo "ALTER ROLE postgres PASSWORD :'password'" | psql --username=postgres --set=password="$POSTGRES_PASSWORD"`

// host is the name under which Pods reach the server, and that its certificate has.
func host(s *reconcile.Session) string { return s.Name() + "." + s.Namespace() + ".svc" }

// pod returns a Pod that the Pod Security level "restricted" allows.
func pod(container *corev1ac.ContainerApplyConfiguration, volumes ...*corev1ac.VolumeApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	const postgres = 999 // the user of the image
	return corev1ac.PodSpec().
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).WithRunAsUser(postgres).WithFSGroup(postgres).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container.WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))).
		WithVolumes(volumes...)
}

// claim returns the volume of a claim.
func claim(name string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName("volume").
		WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(name))
}

// files returns a volume with keys of a Secret, in the mode that PostgreSQL wants for a key.
func files(name, secret string, keys ...string) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(0o640)
	for _, key := range keys {
		source.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(key))
	}
	return corev1ac.Volume().WithName(name).WithSecret(source)
}

func mount(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path)
}

// variable returns an environment variable with a key of a Secret.
func variable(name, secret, key string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(secret).WithKey(key)))
}
