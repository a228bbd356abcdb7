package main

import (
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// cronJob makes backups by the schedule.
func cronJob(s *reconcile.Session, spec v1.DatabaseSpec) *batchv1ac.CronJobApplyConfiguration {
	return batchv1ac.CronJob(s.ScopedName("backup"), s.Namespace()).
		WithLabels(labels(s, "backup")).
		WithSpec(batchv1ac.CronJobSpec().
			WithSchedule(spec.Backup.Schedule).
			WithConcurrencyPolicy(batchv1.ForbidConcurrent).
			WithJobTemplate(batchv1ac.JobTemplateSpec().
				WithSpec(batchv1ac.JobSpec().WithTemplate(dump(s, spec, "backup")))))
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
