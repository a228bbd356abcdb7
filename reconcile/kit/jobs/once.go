package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Option is an option of Once. nil is ignored.
type Option func(*once)

// Replace deletes the Job of another value that still runs, instead of waiting for its end. The next Job is created
// when the Pods of the deleted Job are gone.
func Replace() Option { return func(o *once) { o.replace = true } }

// WithoutOutput leaves out of all messages what containers wrote. The name of the Pod and the container, the exit code
// and the reason stay.
func WithoutOutput() Option { return func(o *once) { o.hide = true } }

// Make is a function that returns the Job. It is called when the component is about to be deployed, so that it can use
// what components have deployed that it waits for, as the Build of a Builder can.
type Make func(ctx context.Context, c *reconcile.Component) (job any, err error)

// Once returns a component, for Session.Use, that consists of one Job for each value. It is ready when the Job of value
// is complete. value is a text of 1 to 1024 bytes that changes when the Job has to run again, such as a version; for
// more content pass a digest. It is stored in an annotation and, as far as the characters of a label allow that, in a
// label, so it mustn't be secret.
//
// job is a Job of batch/v1 in any form that Component.Add takes, or a Make. It isn't changed. Its name is the first
// part of the name of the Jobs; default <resource>-<component>. If job doesn't set them, the restartPolicy is Never,
// the backoffLimit is 3 unless there is a backoffLimitPerIndex, and the terminationMessagePolicy of each container is
// FallbackToLogsOnError. A ttlSecondsAfterFinished and a generateName are errors, unless the component is disabled.
//
// A Job that exists is never changed. Jobs of other values are deleted when they have finished and the Job of value
// exists. Call Once in each Setup: the result is for one session.
func Once(value string, job any, opts ...Option) reconcile.Builder {
	o := &once{value: value, job: job, explained: map[string]string{}}
	for _, option := range opts {
		if option != nil {
			option(o)
		}
	}
	return o
}

// once is the component of Once.
type once struct {
	value         string
	job           any
	replace, hide bool

	// explained are the results of explain in this session, by the uid and the revision of the Job.
	mu        sync.Mutex
	explained map[string]string
}

var (
	_ reconcile.Deployer = (*once)(nil)
	_ reconcile.Verifier = (*once)(nil)
)

// longestValue is the limit for values, in bytes.
const longestValue = 1024

// Build implements reconcile.Builder.
func (o *once) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	job, err := o.build(ctx, c)
	switch {
	case err != nil && c.Disabled():
		return nil // what can't be made must not prevent the deletion of what was
	case err != nil:
		return err
	}
	setDefaults(job)
	base := job.GetName()
	if base == "" {
		base = s.Name() + "-" + c.Name()
	}
	job.SetName(nameOf(base, s.Kind().GroupKind().String(), s.Name(), c.Name(), o.value))
	o.mark(job, s.Manager().KeyDomain(), c.Name())
	c.Add("job", job, reconcile.By(deploy.CreateOnly), reconcile.AndReadyWhen(complete))
	return nil
}

// complete is a judge that waits until a Job is complete, because readiness may have other rules for suspended Jobs.
func complete(_ context.Context, job *unstructured.Unstructured) error {
	if is(job, "Complete") {
		return nil
	}
	return request.Precondition("the Job isn't complete yet")
}

// build returns a valid Job of the author.
func (o *once) build(ctx context.Context, c *reconcile.Component) (*unstructured.Unstructured, error) {
	content := o.job
	if makeJob, isMake := content.(Make); isMake {
		var err error
		if content, err = makeJob(ctx, c); err != nil {
			return nil, err
		}
	}
	job, err := parse(content)
	if err == nil {
		err = errors.Join(validate(job)...)
	}
	switch {
	case o.value == "":
		err = errors.Join(err, errors.New("empty value: pass what changes when the Job has to run again, such as a version"))
	case len(o.value) > longestValue:
		err = errors.Join(err, fmt.Errorf("the value has %d bytes, more than %d: pass a digest of it", len(o.value), longestValue))
	}
	if err != nil {
		return nil, request.Permanent(fmt.Errorf("jobs: %w", err))
	}
	return job, nil
}

// Deploy implements reconcile.Deployer: it creates the Job when no other one runs, and deletes finished ones of other
// values when it exists.
func (o *once) Deploy(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	job := c.Objects()[0]
	if err := errors.Join(validate(job)...); err != nil { // a patch may have added it
		return request.Permanent(fmt.Errorf("jobs: %w", err))
	}
	if s.DryRun() {
		return c.Apply(ctx)
	}
	ref, err := s.Manager().Locate(ctx, job)
	if err != nil {
		return err
	}
	own, err := s.Get(ctx, ref)
	if err != nil {
		return err
	}
	domain := s.Manager().KeyDomain()
	if own != nil {
		if stored, marked := own.GetAnnotations()[valueKey(domain)]; marked && stored != o.value {
			return fmt.Errorf("jobs: %s belongs to the value %q: delete it, or use another value than %q", ref, stored, o.value)
		}
	}
	others, err := o.others(ctx, s, c, ref, own == nil)
	if err != nil {
		return err
	}
	if own != nil {
		if why := o.outdated(s, own, others); why != "" {
			return o.replaced(ctx, s, own, why)
		}
	}
	if err := o.await(ctx, s, others); err != nil {
		return err
	}
	if err := c.Apply(ctx); err != nil || own == nil {
		return err
	}
	return discard(ctx, s, others)
}
