package main

import (
	"context"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/labels"
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
	template, err := dump(ctx, c, b.spec)
	if err != nil {
		return err
	}
	c.Add("schedule", batchv1ac.CronJob(s.ScopedName("backup"), s.Namespace()).
		WithLabels(labels.Of(s, "backup").All()).
		WithSpec(batchv1ac.CronJobSpec().
			WithSchedule(b.spec.Backup.Schedule).
			WithConcurrencyPolicy(batchv1.ForbidConcurrent).
			WithJobTemplate(batchv1ac.JobTemplateSpec().
				WithSpec(batchv1ac.JobSpec().WithTemplate(template)))))
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

// export is the component that writes a last dump.
type export struct{ spec v1.DatabaseSpec }

// Build implements reconcile.Builder.
func (e export) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	template, err := dump(ctx, c, e.spec)
	if err != nil {
		return err
	}
	// The template of a Job can't be changed: a correction of the spec needs a new Job.
	c.Add("job", batchv1ac.Job(s.ScopedName("export"), s.Namespace()).
		WithLabels(labels.Of(s, "export").All()).
		WithSpec(batchv1ac.JobSpec().WithTemplate(template)), reconcile.By(deploy.Recreate))
	return nil
}

// dump is a Pod that dumps the database into a file of the archive, named by the database, the component and the time.
func dump(ctx context.Context, c *reconcile.Component, spec v1.DatabaseSpec) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	container, ca, err := client(ctx, c, spec, `pg_dump --username="$PGUSERNAME" --file="/archive/$NAME-$(date +%Y%m%d-%H%M%S).sql"`)
	if err != nil {
		return nil, err
	}
	container.WithEnv(corev1ac.EnvVar().WithName("NAME").WithValue(c.Session().Name() + "-" + c.Name())).
		WithVolumeMounts(mount("volume", "/archive"))
	return corev1ac.PodTemplateSpec().
		WithLabels(labels.Of(c.Session(), c.Name()).Selector()).
		WithSpec(pod(container, ca, claim(spec.Archive)).WithRestartPolicy(corev1.RestartPolicyOnFailure)), nil
}
