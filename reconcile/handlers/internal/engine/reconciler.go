package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/handlers/internal/essence"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recheck is the time after which a pause is reported again if the status couldn't be written.
const recheck = time.Minute

// Reconciler calls the handlers of a kind.
type Reconciler struct {
	lifecycle.Lifecycle
	env      watch.Env
	handlers []*Handler
	timed    timed
	daemons  daemons
	config   Config
	// keeps: some handler needs a record. statusCounts: some handler is about a field of the status.
	keeps, statusCounts bool
	// rules say what the essence is, and store where the record is kept. isKept: the cluster is known to keep it there.
	rules  essence.Rules
	store  record.Store
	isKept atomic.Bool
	// finalizers are the names of the finalizer: the first one is set, the others hold an object like it.
	finalizers []string
	objects    objects
	seen       seen
	reports    reports
	indexed    []source.Indexed
	// isWhole: objects of the kind are known to be held as a whole.
	isWhole atomic.Bool
}

// New returns the Reconciler of a kind. daemons are kept by the caller, because daemons that were abandoned outlive the
// Reconciler. The error has all mistakes of the handlers together.
func New(kind schema.GroupVersionKind, handlers []*Handler, c Config, env watch.Env, daemons *Daemons) (*Reconciler, error) {
	r := &Reconciler{env: env, config: c}
	l := &r.Lifecycle
	l.Kind, l.Manager, l.Logger, l.Now, l.Recheck = kind, env.Manager, env.Logger, env.Now, recheck
	r.reports.most, r.reports.since, r.reports.own = mostReports, env.Now(), env.Manager.FieldManager()
	r.rules = essence.Rules{Ignored: c.Ignored, Domains: []string{env.Manager.KeyDomain()}}
	for _, h := range handlers {
		r.add(h)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.daemons.Keeper = daemons.Renew(r.tellDaemon)
	return r, nil
}

// add adds a handler, whose filter doesn't panic from then on.
func (r *Reconciler) add(given *Handler) {
	h := *given
	h.panics = &panics{}
	h.Filter = h.panics.guard(h.Filter)
	r.handlers = append(r.handlers, &h)
	if field := h.Filter.Field; len(field) > 0 {
		r.rules.Extra = append(r.rules.Extra, field)
		r.statusCounts = r.statusCounts || field[0] == "status"
	}
	r.keeps = r.keeps || h.On&selection.Recorded != 0
	if h.Rule != nil {
		r.timed.handlers, r.timed.rules = append(r.timed.handlers, &h), append(r.timed.rules, h.Rule)
	}
	r.reports.wanted = r.reports.wanted || h.On&selection.Reported != 0
	if h.On&selection.Daemon != 0 {
		r.daemons.handlers = append(r.daemons.handlers, &h)
	}
	r.seen.wanted = r.seen.wanted || h.On&selection.Seen != 0
}

// Follow makes the Reconciler wait for an index before the first handler is called.
func (r *Reconciler) Follow(index source.Indexed) { r.indexed = append(r.indexed, index) }

// setNames sets the names of the record and of the finalizer, which are the operator's own: several operators may
// handle the same objects.
func (r *Reconciler) setNames() (err error) {
	domain, operator := r.env.Manager.KeyDomain(), r.env.Manager.FieldManager()
	r.store.Field = r.config.StatusField
	r.store.Key, err = record.Key(domain, operator)
	name, invalid := lifecycle.FinalizerName(r.env.Manager, r.config.Finalizer, "Finalizer")
	r.finalizers = append([]string{name}, r.config.Kopf.finalizers()...)
	return errors.Join(err, invalid)
}

// declare declares the conditions that handlers report. Several handlers may report one condition.
func (r *Reconciler) declare() error {
	types, err := conditionsOf(r.handlers)
	if r.QuietPause = len(types) == 0; r.QuietPause {
		return nil
	}
	declaration, invalid := status.Declare(types...)
	if invalid == nil {
		invalid = r.Declare(declaration)
	}
	if invalid != nil {
		return errors.Join(err, fmt.Errorf("reports: %w", invalid))
	}
	return err
}

// Finalizers returns the names of the finalizers that objects may have because of the handlers.
func (r *Reconciler) Finalizers() []string { return slices.Clone(r.finalizers) }

// Sources implements source.Provider.
func (r *Reconciler) Sources() source.Sources {
	sources := source.Sources{When: r.counts(), Indexed: r.indexed}
	if r.reports.wanted {
		sources.Mapped = []source.Mapped{{Kind: clusterEvents, Keys: r.queueReport}}
	}
	if len(r.daemons.handlers) > 0 {
		sources.External = []source.External{r.daemons}
	}
	return sources
}

// counts returns which events of the objects bring them to reconcile: those that may change the essence, the finalizers
// or the deletion.
func (r *Reconciler) counts() filter.Predicate {
	if r.seen.wanted {
		return func(deploy.Event) bool { return true }
	}
	counts := []filter.Predicate{
		filter.Generation(), filter.And(filter.WithoutGeneration(), filter.ResourceVersion()), filter.Lifecycle(),
		filter.LabelsChanged(), filter.Annotations(r.store.Key), filter.Finalizers(), r.recordRemoved,
	}
	for _, h := range r.handlers {
		if h.Filter.When != nil {
			counts = append(counts, filter.ResourceVersion()) // it may be about any field
		}
		if h.Filter.Parent.Kind != "" {
			counts = append(counts, filter.Field("metadata", "ownerReferences"))
		}
	}
	for _, path := range r.rules.Extra {
		if path[0] == "metadata" || path[0] == "status" {
			counts = append(counts, filter.Field(path...))
		}
	}
	return filter.Or(counts...)
}

// recordRemoved reports whether somebody has removed the record, so that the object is handled as a new one.
func (r *Reconciler) recordRemoved(event deploy.Event) bool {
	if event.Type != deploy.Modified {
		return false
	}
	return r.store.Text(event.Old.Object) != "" && r.store.Text(event.New.Object) == ""
}

// Forget implements watch.Forgetter.
func (r *Reconciler) Forget(key deploy.Ref) {
	r.daemons.Forget(key)
	r.objects.forget(key)
	r.reports.drop(key, nil)
	r.seen.drop(key, seenEvent.isLast)
	r.Lifecycle.Forget(key)
}

// Reconcile makes one pass over an object.
func (r *Reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	if err := r.noteListed(ctx, req); err != nil {
		return request.Result{}, err
	}
	r.callSeen(ctx, req.Key)
	object, rest, err := r.Begin(ctx, req)
	if object == nil {
		r.stopDaemons(ctx, req.Key)
		if err == nil {
			r.reports.drop(req.Key, nil) // it is gone, or paused
		}
		return rest, err
	}
	if err := r.checkWhole(ctx, req.Key); err != nil {
		return rest, err
	}
	p, err := r.pass(ctx, object)
	if err == nil {
		err = p.run(ctx)
	}
	reported := err != nil || r.callReported(ctx, object, p.known)
	failed := errors.Join(err, p.failures())
	r.Conclude(ctx, object, p.isComplete(), failed)
	if err != nil {
		return request.Result{}, err
	}
	after := p.next()
	if !reported {
		after = soon(0)
	}
	return request.Result{RequeueAfter: after}, nil
}

// noteListed notes that an object was there when the process started, for which there is no record.
func (r *Reconciler) noteListed(ctx context.Context, req request.Request) error {
	if !r.config.Stateless || !req.Triggers.Has(request.Listed) {
		return nil
	}
	object, err := r.Manager.View().Get(ctx, req.Key)
	if object != nil {
		r.objects.of(req.Key, object.GetUID()).listed = true
	}
	return err
}

// isHeld reports whether a finalizer of the operator holds the object.
func (r *Reconciler) isHeld(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetFinalizers(), r.isOwn)
}

func (r *Reconciler) isOwn(finalizer string) bool { return slices.Contains(r.finalizers, finalizer) }

// checkWhole returns an error if only the metadata of the objects is held: a difference of other fields couldn't be
// seen.
func (r *Reconciler) checkWhole(ctx context.Context, ref deploy.Ref) error {
	view, ok := r.env.Manager.View().(deploy.PartialView)
	if !ok || r.isWhole.Load() {
		return nil
	}
	object, whole, err := view.Partial(ctx, ref)
	switch {
	case err != nil:
		return err
	case object != nil && !whole:
		return request.Permanent(fmt.Errorf("handlers of %s: only the metadata of its objects is held, in which changes of other fields can't be seen: leave the kind out of cluster.MetadataOnly", r.Kind.Kind))
	}
	r.isWhole.Store(object != nil)
	return nil
}
