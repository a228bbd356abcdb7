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
	// afterLeft is the time until the deletion of an earlier object of a name is handled, when an object of the name has
	// left the view.
	afterLeft = time.Second
)

// dispatcher calls the watchers of a kind.
type dispatcher struct {
	lifecycle.Lifecycle
	env      watch.Env
	settings *settings
	roster   *roster
	objects  objects
	gates    gates
	failures failures
	// unpaused passes the events that end a pause.
	unpaused filter.Predicate
	// isWhole: objects of the kind are known to be held as a whole.
	isWhole atomic.Bool
	// target brings objects to reconcile. It is set before the reconciler is in the roster.
	target atomic.Pointer[source.Target]
}

func newDispatcher(kind schema.GroupVersionKind, s *settings, r *roster, env watch.Env) *dispatcher {
	made := &dispatcher{env: env, settings: s, roster: r, unpaused: filter.Unpaused(env.Manager.KeyDomain())}
	l := &made.Lifecycle
	l.Kind, l.Manager, l.Logger, l.Now, l.Recheck, l.QuietPause = kind, env.Manager, env.Logger, env.Now, recheck, true
	return made
}

// Sources implements source.Provider.
func (d *dispatcher) Sources() source.Sources {
	return source.Sources{When: d.counts, External: []source.External{source.Started(d.start)}}
}

// counts reports whether an event matters to one of the watchers.
func (d *dispatcher) counts(event deploy.Event) bool {
	if d.unpaused(event) {
		return true // what has happened during the pause is left to do
	}
	if event.Type == deploy.Deleted && d.objects.isOver(deploy.RefOf(event.New)) {
		return true // an event that doesn't count would end the timer of the retry
	}
	return slices.ContainsFunc(d.roster.list(), func(m *member) bool { return d.passes(m, event) })
}

// passes reports whether an event matters to a watcher. If its filter panics, it does. The beginning of a deletion
// always matters to a watcher with a finalizer, since the object waits for it.
func (d *dispatcher) passes(m *member, event deploy.Event) bool {
	if leases(event) {
		return false
	}
	if len(m.finalizers) > 0 && deletes(event) {
		return true
	}
	when := changes
	if m.when != nil {
		when = m.when
	} else if d.settings.when != nil {
		when = d.settings.when
	}
	passes, err := failure.Value(func() (bool, error) { return when(event), nil })
	if err != nil && !m.filterPanicked.Swap(true) {
		d.Logger.Error("a filter of a watcher panicked: the event counts", "watcher", m.name, "error", err)
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
func (d *dispatcher) start(ctx context.Context, target source.Target) error {
	d.target.Store(&target)
	d.gates.reset()
	context.AfterFunc(ctx, d.roster.run(d))
	d.welcome() // for a watcher that was added since the first event
	return nil
}

// welcome brings all objects to reconcile for a watcher that was added.
func (d *dispatcher) welcome() { d.bring(d.objects.refs()) }

// dismiss drops what a watcher that was removed has to do, and brings its objects: they may wait for it.
func (d *dispatcher) dismiss(m *member) {
	d.gates.remove(m)
	d.bring(d.objects.drop(m))
}

// bring brings objects to reconcile, once the engine runs.
func (d *dispatcher) bring(refs []deploy.Ref) {
	if target := d.target.Load(); target != nil && len(refs) > 0 {
		(*target).Bring(refs...)
	}
}

// Observe implements watch.Observer: it notes what an event means for each watcher.
func (d *dispatcher) Observe(event deploy.Event) {
	ref := deploy.RefOf(event.New)
	if event.Type == deploy.Left {
		if d.objects.left(ref) {
			time.AfterFunc(afterLeft, func() { d.bring([]deploy.Ref{ref}) }) // the engine forgets the object first
		}
		return
	}
	members := d.roster.list()
	if deletion, ok := d.objects.missed(ref, event); ok {
		d.objects.observe(ref, deletion, members, d.allPasses(members, deletion))
	}
	d.objects.observe(ref, event, members, d.allPasses(members, event))
}

// allPasses reports for each watcher whether an event matters to it.
func (d *dispatcher) allPasses(members []*member, event deploy.Event) []bool {
	passes := make([]bool, len(members))
	for i, m := range members {
		passes[i] = d.passes(m, event)
	}
	return passes
}

// Finalizers implements finalizer.Provider.
func (d *dispatcher) Finalizers() (all []string) {
	for _, m := range d.roster.list() {
		all = append(all, m.finalizers...)
	}
	return all
}

// Rights implements watch.RightsProvider.
func (d *dispatcher) Rights() []deploy.Right {
	verbs := []string{"get", "list", "watch"}
	if len(d.Finalizers()) > 0 {
		verbs = append(verbs, "patch")
	}
	rights := []deploy.Right{{Kind: d.Kind, Verbs: verbs}}
	writes := func(m *member) bool { return m.writesStatus }
	if d.settings.writesStatus || slices.ContainsFunc(d.roster.list(), writes) {
		rights = append(rights, deploy.Right{Kind: d.Kind, Subresource: "status", Verbs: []string{"patch"}})
	}
	return rights
}

// Tally implements standing.Provider.
func (d *dispatcher) Tally() standing.Tally {
	tally := d.Lifecycle.Tally()
	tally.GivenUp = d.failures.counts(d.roster.list())
	return tally
}

// Reconcile makes one pass over the object of a name: it calls the watchers whose calls are due.
func (d *dispatcher) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	p := &pass{dispatcher: d, ref: req.Key, members: d.roster.list()}
	p.entry, p.asOf = d.objects.enter(req.Key, p.members, req.Triggers.Has(request.Forced))
	defer p.quit()
	p.over(ctx)
	object, rest, err := d.Begin(ctx, req)
	if err != nil {
		return rest, err
	}
	if object != nil {
		if err := d.checkWhole(ctx, req.Key); err != nil {
			return rest, err
		}
		p.live(ctx, object)
	}
	if p.end(object) {
		d.Conclude(ctx, object, !p.isDue && p.failed == nil, p.failed)
	}
	rest.RequeueAfter = lifecycle.Sooner(rest.RequeueAfter, p.next)
	return rest, nil
}

// checkWhole returns an error if only the metadata of the objects is held: watchers would get objects without a spec.
func (d *dispatcher) checkWhole(ctx context.Context, ref deploy.Ref) error {
	view, ok := d.Manager.View().(deploy.PartialView)
	if !ok || d.isWhole.Load() {
		return nil
	}
	object, whole, err := view.Partial(ctx, ref)
	switch {
	case err != nil:
		return err
	case object != nil && !whole:
		return request.Permanent(fmt.Errorf("watchers of %s: only the metadata of its objects is held: leave the kind out of cluster.MetadataOnly", d.Kind.Kind))
	}
	d.isWhole.Store(object != nil)
	return nil
}

// resyncAt returns when the next resync of an object is due.
func (d *dispatcher) resyncAt(now time.Time) time.Time {
	return now.Add(d.settings.resync - rand.N(d.settings.resync/10+1))
}
