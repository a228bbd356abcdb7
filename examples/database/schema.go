package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/kit/labels"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// schemaJob returns a function that makes the Job that runs the SQL of the spec.
func schemaJob(spec v1.DatabaseSpec) jobs.Make {
	return func(ctx context.Context, c *reconcile.Component) (any, error) {
		container, ca, err := client(ctx, c, spec, `psql --username="$PGUSERNAME" --single-transaction --command="$SCHEMA"`)
		if err != nil {
			return nil, err
		}
		container.WithEnv(corev1ac.EnvVar().WithName("SCHEMA").WithValue(spec.Schema))
		return batchv1ac.Job("", c.Session().Namespace()).
			WithLabels(labels.Of(c.Session(), "schema").All()).
			WithSpec(batchv1ac.JobSpec().
				WithTemplate(corev1ac.PodTemplateSpec().
					WithLabels(labels.Of(c.Session(), "schema").Selector()).
					WithSpec(pod(container, ca)))), nil
	}
}

// digest identifies a schema.
func digest(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return hex.EncodeToString(sum[:5])
}

// client returns a container that runs a command with the connection of the Secret that the database publishes, and the
// volume with its CA.
func client(ctx context.Context, c *reconcile.Component, spec v1.DatabaseSpec, command string) (
	*corev1ac.ContainerApplyConfiguration, *corev1ac.VolumeApplyConfiguration, error) {
	s := c.Session()
	binding, err := connection.Read(ctx, reader{c}, connection.Source{Namespace: s.Namespace(), Secret: s.ScopedName("binding")})
	if request.IsWaiting(err) && s.Resource().GetDeletionTimestamp() != nil {
		// Without its Secret the export has to be tried: in a namespace that is being deleted, the cluster refuses the
		// Job, which ends the deletion. Elsewhere the Job is made anew when the Secret is back.
		binding, err = &connection.Binding{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	container := corev1ac.Container().
		WithName(c.Name()).
		WithImage(spec.Image).
		WithCommand("sh", "-ec", command).
		WithEnv(
			corev1ac.EnvVar().WithName("PGSSLMODE").WithValue("verify-full"),
			corev1ac.EnvVar().WithName("PGSSLROOTCERT").WithValue("/binding/ca.crt")).
		WithVolumeMounts(mount("binding", "/binding"))
	for _, env := range binding.Env("PG") {
		container.WithEnv(variable(env.Name, env.ValueFrom.SecretKeyRef.Name, env.ValueFrom.SecretKeyRef.Key))
	}
	return container, files("binding", s.ScopedName("binding"), "ca.crt"), nil
}

// reader reads objects for a component. An object of the session is returned as it will be deployed.
type reader struct{ *reconcile.Component }

// Get implements connection.Reader.
func (r reader) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return r.Input(ctx, ref)
}

// Follow implements connection.Reader. Input follows.
func (r reader) Follow(context.Context, deploy.Ref) error { return nil }
