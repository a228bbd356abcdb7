package source

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Watcher watches further kinds and objects while a Reconciler runs, so that their changes bring an object to
// reconcile. The engine of package watch is one. Its methods are called concurrently, and again with every reconcile.
// If a kind isn't served, the error is a *deploy.KindUnknownError.
type Watcher interface {
	// Own watches the objects of kind child that objects of kind owner own. It returns once the existing ones are
	// known.
	Own(ctx context.Context, owner, child schema.GroupVersionKind) error
	// Follow watches a single object that owner doesn't own. It returns once the present state of the object is known.
	// When a reconcile of owner succeeds, owner stops following the objects for which that reconcile didn't call
	// Follow.
	Follow(ctx context.Context, owner deploy.Ref, ref deploy.Ref) error
	// FollowAll is Follow for all objects that View.List returns with the same arguments, now or later: an event of an
	// object counts if the selector matches the object before or after it. An empty namespace means all namespaces, and
	// nil means no selector.
	FollowAll(ctx context.Context, owner deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error
}

// Sources declares what brings the objects of one kind to reconcile. The zero value keeps the defaults: the filter
// filter.Standard, and no other kinds or sources.
type Sources struct {
	// When reports which events of the objects themselves count; nil is filter.Standard. Existing objects at the start
	// are events too, and so is the beginning of a deletion, see package filter. Retries, times that a result asks for,
	// a forced reconcile and the sources below bring an object to reconcile regardless of When. An event for which When
	// panics counts; the first panic is logged.
	When filter.Predicate
	// Owned are kinds of children that are watched from the start.
	Owned []Owned
	// Mapped are other kinds whose events concern objects of this one.
	Mapped []Mapped
	// Indexed are kinds whose events keep tables up to date in which reconciles look things up.
	Indexed []Indexed
	// External are sources outside of the cluster.
	External []External
}

// Owned is a kind of children: objects owned by an owner reference, or by a label, see deploy.OwnedByLabel.
type Owned struct {
	// Kind is the kind of the children.
	Kind schema.GroupVersionKind
	// When reports which events of a child bring its owners; nil: each event, except for updates that repeat a
	// resourceVersion, and updates by which a replica of the operator only takes or releases its lock on the child (see
	// filter.Leasing). For a child that has a reconciler of its own, such as another resource of the same operator,
	// filter.ReadyReason is enough.
	When filter.Predicate
}

// Mapped is a kind whose objects are neither controlled nor owned, but whose events concern controlled objects.
type Mapped struct {
	// Kind is the kind of these objects.
	Kind schema.GroupVersionKind
	// When reports which events are mapped; nil: each event, with the exceptions of Owned.When.
	When filter.Predicate
	// Keys returns which objects an event concerns. A key without a kind has the controlled kind. Keys of other kinds
	// are ignored, and so are keys without a name; the first ignored key of another kind is logged, and the first
	// without a name. Keys must not change the event, and must not block: events of all kinds wait for it. It isn't
	// called for an object that leaves the view (deploy.Left). An event for which Keys panics concerns no object; the
	// first panic is logged.
	Keys func(event deploy.Event) []deploy.Ref
}

// Indexed is a kind whose events go to a function and bring no object to reconcile. The kind may be the controlled kind
// itself: then Index is called for an event before the event brings its object to reconcile.
type Indexed struct {
	// Kind is the kind of the indexed objects.
	Kind schema.GroupVersionKind
	// Index is called for each existing object (Added), and then for each event, one after the other. No object of the
	// controlled kind is reconciled before Index has been called for all existing objects: if they can't be read, or
	// the kind isn't served, the controlled kind waits, and State of the engine and the log say why. Index must not
	// block, since all other events wait for it, nor change the event. The first panic is logged.
	Index func(event deploy.Event)
}

// Provider is implemented by a reconciler of package watch, or a controller of package reconcile, that declares
// Sources. Sources is called once, before the kind is watched, and its result must not change afterwards.
type Provider interface {
	Sources() Sources
}

// check returns an error if s is invalid.
func (s Sources) check() error {
	var errs []error
	owned := map[schema.GroupKind]bool{}
	named := func(list string, place int, kind schema.GroupVersionKind) bool {
		if kind.Kind != "" && kind.Version != "" {
			return true
		}
		errs = append(errs, fmt.Errorf("%s[%d]: kind %q: needs a version and a kind", list, place, kind))
		return false
	}
	for i, o := range s.Owned {
		switch {
		case !named("owned", i, o.Kind):
		case owned[o.Kind.GroupKind()]:
			errs = append(errs, fmt.Errorf("owned[%d]: %s: declared twice: join its filters by filter.And or filter.Or", i, o.Kind.GroupKind()))
		}
		owned[o.Kind.GroupKind()] = true
	}
	for i, m := range s.Mapped {
		switch {
		case !named("mapped", i, m.Kind):
		case m.Keys == nil:
			errs = append(errs, fmt.Errorf("mapped[%d]: %s: nil Keys", i, m.Kind.GroupKind()))
		}
	}
	for i, indexed := range s.Indexed {
		switch {
		case !named("indexed", i, indexed.Kind):
		case indexed.Index == nil:
			errs = append(errs, fmt.Errorf("indexed[%d]: %s: nil Index", i, indexed.Kind.GroupKind()))
		}
	}
	for i, external := range s.External {
		if err := checkExternal(external); err != nil {
			errs = append(errs, fmt.Errorf("external[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

func checkExternal(external External) error {
	if value := reflect.ValueOf(external); !value.IsValid() || value.Kind() == reflect.Func && value.IsNil() {
		return errors.New("nil source")
	}
	if checked, ok := external.(interface{ check() error }); ok {
		return checked.check()
	}
	return nil
}

// Of returns the Sources of value, a reconciler or a controller. If value isn't a Provider, they are empty. An error
// means that the Sources are invalid, that the method panicked, or that its signature isn't Provider's.
func Of(value any) (sources Sources, err error) {
	provider, ok := value.(Provider)
	if !ok {
		return Sources{}, optional.Check(value, reflect.TypeFor[Provider]())
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			sources, err = Sources{}, fmt.Errorf("%T: its method Sources panics: %v", value, panicked)
		}
	}()
	sources = provider.Sources()
	if err := sources.check(); err != nil {
		return Sources{}, fmt.Errorf("%T: its sources: %w", value, err)
	}
	return sources, nil
}
