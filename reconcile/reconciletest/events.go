package reconciletest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// events finds the events in the cluster since the last look, and the resources that they concern, by the rules of
// package watch. It is the Watcher of the reconcilers.
type events struct {
	*Harness
	owners    *trigger.Owners
	followers *trigger.Followers
	// rules decide which events count, from the Sources of the reconcilers.
	rules map[schema.GroupVersionKind]*trigger.Rules
	// kinds are the kinds of objects that the test has applied.
	kinds map[schema.GroupVersionKind]bool
	// wake signals an event on a real cluster.
	wake chan struct{}

	// listed: look was called since the start.
	listed bool

	mu sync.Mutex
	// seen are the objects of watched kinds at the last look.
	seen map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured
	// owned are the kinds that each controlled kind owns, and followed are the kinds of followed objects.
	owned    map[schema.GroupVersionKind]map[schema.GroupVersionKind]bool
	followed map[schema.GroupVersionKind]bool
	watched  map[schema.GroupVersionKind]deploy.Subscription
}

func newEvents(h *Harness) *events {
	e := &events{Harness: h, kinds: map[schema.GroupVersionKind]bool{}, wake: make(chan struct{}, 1), watched: map[schema.GroupVersionKind]deploy.Subscription{}}
	e.forget()
	return e
}

// forget resets the state, for a restart.
func (e *events) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured{}
	e.owned = map[schema.GroupVersionKind]map[schema.GroupVersionKind]bool{}
	e.followed = map[schema.GroupVersionKind]bool{}
	e.listed = false
	e.owners, e.followers = trigger.NewOwners(), &trigger.Followers{}
}

// Own implements source.Watcher.
func (e *events) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	if err := e.begin(ctx, child); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.owned[owner] == nil {
		e.owned[owner] = map[schema.GroupVersionKind]bool{}
	}
	e.owned[owner][child] = true
	return nil
}

// Follow implements source.Watcher.
func (e *events) Follow(ctx context.Context, owner deploy.Ref, ref deploy.Ref) error {
	return e.follow(ctx, ref.Kind, func() { e.followers.Add(owner, ref) })
}

// FollowAll implements source.Watcher.
func (e *events) FollowAll(ctx context.Context, owner deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	return e.follow(ctx, kind, func() { e.followers.AddAll(owner, kind, namespace, selector) })
}

func (e *events) follow(ctx context.Context, kind schema.GroupVersionKind, add func()) error {
	if err := e.begin(ctx, kind); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen[kind] == nil {
		// The reconcile is about to read the existing objects, so these must not cause another reconcile.
		objects, err := e.list(kind)
		if err != nil {
			return err
		}
		e.seen[kind] = objects
	}
	e.followed[kind] = true
	add()
	return nil
}

// begin watches a kind from now on.
func (e *events) begin(ctx context.Context, kind schema.GroupVersionKind) error {
	if _, err := e.cluster.Port().Scope(ctx, kind); err != nil {
		return err
	}
	return e.watch(kind)
}

// watch subscribes to a kind of a real cluster. In memory look is enough.
func (e *events) watch(kind schema.GroupVersionKind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	subscription := e.watched[kind]
	if e.memory != nil || subscription != nil {
		return nil
	}
	ctx := e.t.Context()
	subscription, err := e.cluster.View().Subscribe(ctx, kind, func(deploy.Event) {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	e.watched[kind] = subscription
	return subscription.Synced(ctx)
}

// known returns the kinds that the test or a reconciler uses.
func (e *events) known() []schema.GroupVersionKind {
	kinds := maps.Clone(e.kinds)
	for _, kind := range e.looked() {
		kinds[kind] = true
	}
	return slices.Collect(maps.Keys(kinds))
}

// looked returns the kinds whose events look compares: the controlled kinds, and the kinds that they declare, own or
// follow.
func (e *events) looked() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersionKind]bool{}
	for kind := range e.reconcilers {
		kinds[kind] = true
	}
	for _, rules := range e.rules {
		sources := rules.Sources()
		for _, owned := range sources.Owned {
			kinds[owned.Kind] = true
		}
		for _, mapped := range sources.Mapped {
			kinds[mapped.Kind] = true
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, children := range e.owned {
		maps.Copy(kinds, children)
	}
	maps.Copy(kinds, e.followed)
	return slices.Collect(maps.Keys(kinds))
}

// look reports whether anything has changed since the last look, and brings the resources that the changes concern to
// reconcile.
func (e *events) look() (changed bool, err error) {
	var happened []deploy.Event
	for _, kind := range e.looked() {
		now, err := e.list(kind)
		if err != nil {
			return false, err
		}
		e.mu.Lock()
		happened = append(happened, compare(e.seen[kind], now)...)
		e.seen[kind] = now
		e.mu.Unlock()
	}
	// Owners come first: an owner may be created together with its objects.
	for _, event := range happened {
		kind := event.New.GroupVersionKind()
		if e.reconcilers[kind] == nil {
			continue
		}
		key, anew := e.owners.Observe(kind, event)
		if counts, forced := e.rules[kind].Counts(event); counts {
			e.bring(key, trigger.Why(event, !e.listed, forced), anew || forced)
		}
	}
	for _, event := range happened {
		// Objects that exist at the start bring only themselves to reconcile, not their owners.
		if e.listed {
			e.concern(event)
		}
	}
	e.listed = true
	return len(happened) > 0, nil
}

func (e *events) list(kind schema.GroupVersionKind) (map[deploy.Ref]*unstructured.Unstructured, error) {
	ctx := e.t.Context()
	scope, err := e.cluster.Port().Scope(ctx, kind)
	namespace := ""
	if e.memory == nil && scope == deploy.Namespaced {
		namespace = e.options.namespace
	}
	var objects []*unstructured.Unstructured
	if err == nil {
		objects, err = e.cluster.View().List(ctx, kind, namespace, nil)
	}
	if failure.Is[*deploy.KindUnknownError](err) {
		return nil, nil
	}
	found := make(map[deploy.Ref]*unstructured.Unstructured, len(objects))
	for _, obj := range objects {
		found[deploy.RefOf(obj)] = obj
	}
	return found, err
}

// resource returns a controlled object as it was at the last look, nil if there was none.
func (e *events) resource(ref deploy.Ref) *unstructured.Unstructured {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[ref.Kind][ref]
}

func compare(before, now map[deploy.Ref]*unstructured.Unstructured) (happened []deploy.Event) {
	for ref, obj := range now {
		switch old := before[ref]; {
		case old == nil:
			happened = append(happened, deploy.Event{Type: deploy.Added, New: obj})
		case old.GetResourceVersion() != obj.GetResourceVersion():
			happened = append(happened, deploy.Event{Type: deploy.Modified, Old: old, New: obj})
		}
	}
	for ref, old := range before {
		if now[ref] == nil {
			happened = append(happened, deploy.Event{Type: deploy.Deleted, Old: old, New: old})
		}
	}
	return happened
}

// concern brings the resources that an event concerns.
func (e *events) concern(event deploy.Event) {
	kind := event.New.GroupVersionKind()
	for owner, rules := range e.rules {
		if e.owns(owner, kind) && rules.CountsOwned(kind, event) {
			for _, key := range e.owners.Of(owner, event) {
				e.bring(key, request.Child, false)
			}
		}
		for place, mapped := range rules.Sources().Mapped {
			if mapped.Kind != kind {
				continue
			}
			for _, key := range rules.Mapped(place, event) {
				e.bring(key, request.Mapped, false)
			}
		}
	}
	for _, key := range e.followers.Of(event) {
		e.bring(key, request.Followed, false)
	}
}

// bring makes a resource due now, unless it belongs to another test.
func (e *events) bring(key deploy.Ref, why request.Triggers, anew bool) {
	if e.mine(key) {
		e.mark(key, why, anew)
	}
}

func (e *events) owns(owner, child schema.GroupVersionKind) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owned[owner][child] || slices.ContainsFunc(e.rules[owner].Sources().Owned, func(o source.Owned) bool { return o.Kind == child })
}

// mine reports whether a resource belongs to this test: a real cluster may have other resources.
func (e *events) mine(ref deploy.Ref) bool {
	return e.memory != nil || ref.Namespace == e.options.namespace || e.applied[ref]
}
