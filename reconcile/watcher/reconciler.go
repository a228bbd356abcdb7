package watcher

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// soon is the time until a call that is due at once, without an event.
	soon = time.Millisecond
	// recheck is the time after which a pause is reported again if the status couldn't be written.
	recheck = time.Minute
)

// reconciler calls the watchers of a kind.
type reconciler struct {
	lifecycle.Lifecycle
	env      watch.Env
	settings *settings
	roster   *roster
	objects  objects
	failures failures
	// unpaused passes the events that end a pause.
	unpaused filter.Predicate
	// isWhole: objects of the kind are known to be held as a whole.
	isWhole atomic.Bool
	// target brings objects to reconcile. It is set before the reconciler is in the roster.
	target atomic.Pointer[source.Target]
}

func newReconciler(kind schema.GroupVersionKind, s *settings, r *roster, env watch.Env) *reconciler {
	made := &reconciler{env: env, settings: s, roster: r, unpaused: filter.Unpaused(env.Manager.KeyDomain())}
	l := &made.Lifecycle
	l.Kind, l.Manager, l.Logger, l.Now, l.Recheck, l.QuietPause = kind, env.Manager, env.Logger, env.Now, recheck, true
	return made
}

// Sources implements source.Provider.
func (r *reconciler) Sources() source.Sources {
	return source.Sources{When: r.counts, External: []source.External{source.Started(r.start)}}
}

// counts reports whether an event matters to one of the watchers.
func (r *reconciler) counts(event deploy.Event) bool {
	if r.unpaused(event) {
		return true // what has happened during the pause is left to do
	}
	return slices.ContainsFunc(r.roster.list(), func(m *member) bool { return r.passes(m, event) })
}

// passes reports whether an event matters to a watcher. If its filter panics, it does. The beginning of a deletion
// always matters to a watcher with a finalizer, since the object waits for it.
func (r *reconciler) passes(m *member, event deploy.Event) bool {
	if leases(event) {
		return false
	}
	if len(m.finalizers) > 0 && deletes(event) {
		return true
	}
	when := changes
	if m.when != nil {
		when = m.when
	} else if r.settings.when != nil {
		when = r.settings.when
	}
	passes, err := failure.Value(func() (bool, error) { return when(event), nil })
	if err != nil && !m.filterPanicked.Swap(true) {
		r.Logger.Error("a filter of a watcher panicked: the event counts", "watcher", m.name, "error", err)
	}
	return passes || err != nil
}

var (
	// changes is the filter by default: every event that isn't a repetition.
	changes = filter.Or(filter.ResourceVersion(), filter.Lifecycle())
	deletes = filter.Deletion()
	// leases are events that don't count for any filter.
	leases = filter.Leasing()
)

// start notes how objects are brought to reconcile, for watchers that are added while the engine runs.
func (r *reconciler) start(ctx context.Context, target source.Target) error {
	r.target.Store(&target)
	context.AfterFunc(ctx, r.roster.run(r))
	r.welcome() // for a watcher that was added since the first event
	return nil
}

// welcome brings all objects to reconcile for a watcher that was added.
func (r *reconciler) welcome() { (*r.target.Load()).Bring(r.objects.refs()...) }

// Observe implements watch.Observer: it notes what an event means for each watcher.
func (r *reconciler) Observe(event deploy.Event) {
	members := r.roster.list()
	passes := make([]bool, len(members))
	for i, m := range members {
		passes[i] = r.passes(m, event)
	}
	r.objects.observe(deploy.RefOf(event.New), event, members, passes)
}

// Finalizers implements finalizer.Provider.
func (r *reconciler) Finalizers() (all []string) {
	for _, m := range r.roster.list() {
		all = append(all, m.finalizers...)
	}
	return all
}

// Rights implements watch.RightsProvider.
func (r *reconciler) Rights() []deploy.Right {
	verbs := []string{"get", "list", "watch"}
	if len(r.Finalizers()) > 0 {
		verbs = append(verbs, "patch")
	}
	return []deploy.Right{{Kind: r.Kind, Verbs: verbs}}
}

// Tally implements standing.Provider.
func (r *reconciler) Tally() standing.Tally {
	tally := r.Lifecycle.Tally()
	tally.GivenUp = r.failures.counts(r.roster.list())
	return tally
}

// Reconcile makes one pass over the object of a name: it calls the watchers whose calls are due.
func (r *reconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	p := &pass{reconciler: r, ref: req.Key, members: r.roster.list()}
	p.entry, p.asOf = r.objects.enter(req.Key, p.members)
	p.over(ctx)
	object, rest, err := r.Begin(ctx, req)
	if err != nil {
		return rest, err
	}
	if object != nil {
		if err := r.checkWhole(ctx, req.Key); err != nil {
			return rest, err
		}
		p.live(ctx, object, req.Triggers.Has(request.Forced))
	}
	if p.end(object) {
		r.Conclude(ctx, object, !p.isDue && p.failed == nil, p.failed)
	}
	rest.RequeueAfter = lifecycle.Sooner(rest.RequeueAfter, p.next)
	return rest, nil
}

// checkWhole returns an error if only the metadata of the objects is held: watchers would get objects without a spec.
func (r *reconciler) checkWhole(ctx context.Context, ref deploy.Ref) error {
	view, ok := r.Manager.View().(deploy.PartialView)
	if !ok || r.isWhole.Load() {
		return nil
	}
	object, whole, err := view.Partial(ctx, ref)
	switch {
	case err != nil:
		return err
	case object != nil && !whole:
		return request.Permanent(fmt.Errorf("watchers of %s: only the metadata of its objects is held: leave the kind out of cluster.MetadataOnly", r.Kind.Kind))
	}
	r.isWhole.Store(object != nil)
	return nil
}

// resyncAt returns when the next resync of an object is due.
func (r *reconciler) resyncAt(now time.Time) time.Time {
	return now.Add(r.settings.resync - rand.N(r.settings.resync/10+1))
}
