package main

import (
	"context"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

var claimKind = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}

// backup is the component that makes backups by the schedule.
type backup struct{ spec v1.DatabaseSpec }

// Build implements reconcile.Builder.
func (b backup) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	c.Add("schedule", batchv1ac.CronJob(s.ScopedName("backup"), s.Namespace()).
		WithLabels(labels(s, "backup")).
		WithSpec(batchv1ac.CronJobSpec().
			WithSchedule(b.spec.Backup.Schedule).
			WithConcurrencyPolicy(batchv1.ForbidConcurrent).
			WithJobTemplate(batchv1ac.JobTemplateSpec().
				WithSpec(batchv1ac.JobSpec().WithTemplate(dump(s, b.spec, "backup"))))))
	if c.Disabled() || s.DryRun() { // a dry run may have no cluster to ask
		return nil
	}
	archive := deploy.Ref{Kind: claimKind, Namespace: s.Namespace(), Name: b.spec.Archive}
	if err := s.Follow(ctx, archive); err != nil {
		return err
	}
	claim, err := s.Get(ctx, archive)
	if err == nil && claim == nil {
		err = request.Configuration("spec.archive: there is no claim %s: create it, or remove the field", archive.Name)
	}
	return err
}

// exportJob writes a last dump.
func exportJob(s *reconcile.Session, spec v1.DatabaseSpec) *batchv1ac.JobApplyConfiguration {
	return batchv1ac.Job(s.ScopedName("export"), s.Namespace()).
		WithLabels(labels(s, "export")).
		WithSpec(batchv1ac.JobSpec().WithTemplate(dump(s, spec, "export")))
}

// dump is a Pod that dumps the database into a file of the archive, named by the database, the purpose and the time.
func dump(s *reconcile.Session, spec v1.DatabaseSpec, purpose string) *corev1ac.PodTemplateSpecApplyConfiguration {
	return corev1ac.PodTemplateSpec().
		WithLabels(labels(s, purpose)).
		WithSpec(pod(spec.Archive, corev1ac.Container().
			WithName("dump").
			WithImage(spec.Image).
			WithCommand("sh", "-ec", `pg_dump --host="$HOST" --username=postgres --file="/archive/$NAME-$(date +%Y%m%d-%H%M%S).sql"`).
			WithEnv(
				corev1ac.EnvVar().WithName("HOST").WithValue(s.Name()),
				corev1ac.EnvVar().WithName("NAME").WithValue(s.Name()+"-"+purpose),
				password(s, "PGPASSWORD")).
			WithVolumeMounts(corev1ac.VolumeMount().WithName("volume").WithMountPath("/archive"))).
			WithRestartPolicy(corev1.RestartPolicyOnFailure))
}
