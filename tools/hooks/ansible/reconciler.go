package ansible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// soonest is the shortest time after which a playbook may ask to be run again.
const soonest = time.Second

// runner runs playbooks. It is a *playbook.Runner.
type runner interface {
	Run(ctx context.Context, in playbook.Input) (*playbook.Result, error)
	Forget(kind schema.GroupKind, namespace, name string) error
}

// granter gives runs access to the API. It is a *proxy.Proxy.
type granter interface {
	Issue(grant proxy.Grant) (*proxy.Access, error)
}

// reconciler reconciles the resources of an entry.
type reconciler struct {
	standing.Book
	env       watch.Env
	entry     *watches.Entry
	runs      runner
	access    granter
	verbosity int
	period    time.Duration
	failures  failures
}

// Forget implements watch.Forgetter.
func (r *reconciler) Forget(key deploy.Ref) {
	r.Book.Forget(key)
	r.failures.forget(key)
}

// Finalizers returns the names of the finalizers that resources may have.
func (r *reconciler) Finalizers() []string { return finalizersOf(r.entry) }

func finalizersOf(entry *watches.Entry) []string {
	if entry == nil || entry.Finalizer == nil {
		return nil
	}
	return []string{entry.Finalizer.Name}
}

// Reconcile runs the playbook for a resource.
func (r *reconciler) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	resource, err := r.env.Manager.View().Get(ctx, req.Key)
	if err != nil {
		return result, err
	}
	if resource == nil {
		r.Forget(req.Key)
		return result, r.runs.Forget(req.Key.Kind.GroupKind(), req.Key.Namespace, req.Key.Name)
	}
	held := r.holds(resource)
	if isLeaving := resource.GetDeletionTimestamp() != nil; isLeaving && !held || !isLeaving && !r.selects(resource) {
		r.Forget(req.Key)
		return result, nil
	}
	if paused := pause.Of(resource, r.env.Manager.KeyDomain(), r.env.Now()); paused.Paused {
		r.Set(req.Key, standing.Paused)
		return request.Result{RequeueAfter: paused.Left(r.env.Now())}, nil
	}
	if r.entry.Finalizer != nil && !held {
		if err := r.env.Manager.AddFinalizer(ctx, resource, r.entry.Finalizer.Name); err != nil {
			return result, fmt.Errorf("add the finalizer: %w", err)
		}
	}
	result, err = r.upkeep(ctx, req.Key, resource)
	r.Set(req.Key, standing.After(resource, true, err))
	return result, err
}

// holds reports whether a resource has the finalizer of the entry.
func (r *reconciler) holds(resource *unstructured.Unstructured) bool {
	return r.entry.Finalizer != nil && slices.Contains(resource.GetFinalizers(), r.entry.Finalizer.Name)
}

// selects reports whether the entry is for a resource.
func (r *reconciler) selects(resource *unstructured.Unstructured) bool {
	selector, err := metav1.LabelSelectorAsSelector(&r.entry.Selector)
	return err == nil && selector.Matches(labels.Set(resource.GetLabels()))
}

// upkeep makes a run, and reports it. After a run that has failed, the error is for another one.
func (r *reconciler) upkeep(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured) (result request.Result, err error) {
	settings, err := r.settingsOf(resource)
	if err != nil && resource.GetDeletionTimestamp() == nil { // a mistake in an annotation doesn't keep a resource
		return result, errors.Join(request.Permanent(err), r.reportError(ctx, key, resource, err))
	}
	if err := r.reportRunning(ctx, key, resource); err != nil {
		return result, err
	}
	done, written, err := r.run(ctx, resource, settings)
	if ctx.Err() != nil {
		return result, err // the process ends, so that the next one repeats the run
	}
	if err != nil {
		return result, errors.Join(err, r.reportError(ctx, key, resource, err))
	}
	if err := r.reportOutcome(ctx, key, resource, done); err != nil {
		return result, err
	}
	if !done.Succeeded() {
		result.Wrote = written // the retry has its time
		err := fmt.Errorf("%s: %s", r.entry.SourceOf(resource.GetDeletionTimestamp() != nil).Path(), messageOf(done))
		r.recordFailure(key, resource, err)
		return result, err
	}
	r.env.Logger.Info("playbook run", "object", key, "ok", done.OK, "changed", done.Changed, "skipped", done.Skipped)
	r.failures.forget(key)
	if resource.GetDeletionTimestamp() != nil {
		return result, r.free(ctx, key, resource)
	}
	result.RequeueAfter, result.Wrote = settings.ReconcilePeriod, written
	if done.RequeueAfter != nil {
		result.RequeueAfter = max(*done.RequeueAfter, soonest)
	}
	return result, nil
}

// free removes the finalizer. The resource has changed since it was read: its conditions were written.
func (r *reconciler) free(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured) error {
	_, err := r.env.Manager.Change(ctx, key, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if current.GetUID() != resource.GetUID() {
			return nil, nil
		}
		next := current.DeepCopy()
		next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(name string) bool { return name == r.entry.Finalizer.Name }))
		return next, nil
	})
	return err
}

// settingsOf returns the settings for a resource: those of its annotations, of the entry, or of the program.
func (r *reconciler) settingsOf(resource *unstructured.Unstructured) (watches.Settings, error) {
	of := watches.Settings{ReconcilePeriod: r.entry.ReconcilePeriod, Verbosity: r.verbosity, MaxRunnerArtifacts: r.entry.MaxRunnerArtifacts}
	settings, err := of.Override(resource.GetAnnotations())
	settings.ReconcilePeriod = cmp.Or(settings.ReconcilePeriod, r.period)
	if most := r.entry.MaxRunnerArtifacts; most > 0 && (settings.MaxRunnerArtifacts <= 0 || settings.MaxRunnerArtifacts > most) {
		settings.MaxRunnerArtifacts = most // who may annotate a resource must not fill the disk
	}
	return settings, err
}
