package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// recheck is the time after which a pause is reported again if the status couldn't be written.
	recheck = time.Minute
	// recreateWait bounds the wait until a child that is recreated is gone; after that its event brings the parent.
	recreateWait = 500 * time.Millisecond
)

// Reconciler reconciles the parents of a kind.
type Reconciler struct {
	lifecycle.Lifecycle
	env watch.Env
	Functions
	Settings
	children map[schema.GroupVersionKind]Child
	// kinds are the declared kinds of children, in order; byGroup are the same by group and kind.
	kinds   []schema.GroupVersionKind
	byGroup map[schema.GroupKind]schema.GroupVersionKind
	// places are the places of the kinds in kinds.
	places    map[schema.GroupVersionKind]int
	finalizer string
	// strategyKey is the annotation that names the strategy of a child, and membersKey that with the children of a
	// revision.
	strategyKey, membersKey string
	// isWhole: the objects of all kinds are known to be held as a whole.
	isWhole atomic.Bool
	scopes  scopes
	// recent are the latest writes of the children of kinds that are rolled. rolls: there are such kinds.
	recent recent
	rolls  bool
}

// New returns the Reconciler of a kind.
func New(ctx context.Context, kind schema.GroupVersionKind, f Functions, s Settings, env watch.Env) (*Reconciler, error) {
	r := &Reconciler{
		env: env, Functions: f, Settings: s, strategyKey: env.Manager.KeyDomain() + "/strategy", membersKey: env.Manager.KeyDomain() + "/children",
		children: map[schema.GroupVersionKind]Child{}, byGroup: map[schema.GroupKind]schema.GroupVersionKind{},
		places: map[schema.GroupVersionKind]int{},
	}
	l := &r.Lifecycle
	l.Kind, l.Logger, l.Now, l.Recheck, l.QuietPause = kind, env.Logger, env.Now, recheck, s.Decorates
	options := []deploy.Option{deploy.RetryFor(0), deploy.RecreateWait(recreateWait), deploy.AsController()}
	for i, one := range s.Children {
		r.children[one.Kind], r.byGroup[one.Kind.GroupKind()], r.places[one.Kind] = one, one.Kind, i
		r.kinds, r.rolls = append(r.kinds, one.Kind), r.rolls || one.Strategy.Rolls()
		options = append(options, deploy.KindStrategy(one.Kind.GroupKind(), strategies[one.Strategy]))
		if recreates(one.Strategy) {
			_, _ = r.scopes.isNamespaced(ctx, env.Manager.Port(), one.Kind) // for Rights; if it isn't known yet, a pass finds out
		}
	}
	var err error
	if l.Manager, err = env.Manager.With(options...); err != nil {
		return nil, err
	}
	if r.finalizer, err = lifecycle.FinalizerName(env.Manager, s.Finalizer, "FinalizerName"); err != nil {
		return nil, err
	}
	return r, nil
}

// Finalizers returns the name of the finalizer that parents may have.
func (r *Reconciler) Finalizers() []string { return []string{r.finalizer} }

// Sources implements source.Provider.
func (r *Reconciler) Sources() (s source.Sources) {
	s.When = r.When
	for _, kind := range r.ownedKinds() {
		s.Owned = append(s.Owned, source.Owned{Kind: kind})
	}
	return s
}

// ownedKinds returns the kinds of all objects that a parent owns: its children and its revisions.
func (r *Reconciler) ownedKinds() []schema.GroupVersionKind {
	if len(r.Revisions) == 0 {
		return r.kinds
	}
	return append(slices.Clone(r.kinds), revision.Kind)
}

// Forget implements watch.Forgetter.
func (r *Reconciler) Forget(key deploy.Ref) {
	r.recent.forget(key)
	r.Lifecycle.Forget(key)
}

// Reconcile brings a parent and its children closer to what is wanted.
func (r *Reconciler) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	if foreign, err := r.isForeign(ctx, req.Key); foreign || err != nil {
		return result, err
	}
	parent, rest, err := r.Begin(ctx, req)
	if parent == nil {
		return rest, err
	}
	p := &pass{Reconciler: r, seen: Observed{Parent: parent}, log: r.LoggerFor(parent).With("object", req.Key), key: req.Key}
	if r.rolls {
		p.since = r.recent.begin(req.Key, r.Now())
	}
	before := r.reported(req.Key)
	result, err = p.run(ctx)
	p.recordChanges(parent)
	if !p.isPaused {
		r.Conclude(ctx, parent, p.complete, err)
		p.recordFailure(ctx, parent, before, err)
	}
	return result, err
}
