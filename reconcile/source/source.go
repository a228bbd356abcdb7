package source

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Sources are what brings the objects of one kind to reconcile. The zero value adds nothing to what does by itself.
type Sources struct {
	// When tells which events of the objects themselves count; nil is filter.Standard. Those that exist at the start are
	// events too, and so is the beginning of a deletion: what is refused isn't reconciled for it, see package filter.
	// Retries, times that a result asks for, a forced reconcile and all else below bring an object to reconcile all the
	// same. An event at which it panics counts, and the panic is logged once (spec: watch 21, 28-31).
	When filter.Predicate
	// Owned are kinds of children that are watched from the start (spec: watch mistake 23).
	Owned []Owned
	// Mapped are other kinds whose events concern objects of this one.
	Mapped []Mapped
	// External is what happens outside of the cluster.
	External []External
}

// Owned is a kind of which the objects own some: by an owner reference, or by a label, see deploy.OwnedByLabel.
type Owned struct {
	// Kind is that of the children.
	Kind schema.GroupVersionKind
	// When tells which events of a child bring its owners. By itself, when nil, each does that shows another version than
	// the last; a filter lets pass some of these (spec: watch 25, 26). For a child that has a reconciler of its own, such
	// as another resource of the same operator, filter.ReadyReason is enough (spec: watch 27).
	When filter.Predicate
}

// Mapped is a kind whose objects are neither controlled nor owned, but matter.
type Mapped struct {
	// Kind is that of the objects that matter.
	Kind schema.GroupVersionKind
	// When tells which events are mapped; nil: each that shows another version than the last.
	When filter.Predicate
	// Keys tells which objects an event concerns. A key without a kind means one of the kind that is controlled; others
	// than of that kind are refused, and that is logged once. It must not change the event, is called for one event
	// of any kind after the other, so it must not block, and isn't called for what leaves the view
	// (deploy.Left). One that panics concerns nobody, and the panic is logged once.
	Keys func(event deploy.Event) []deploy.Ref
}

// Provider is what a reconciler of package watch, or a controller of package reconcile, implements to have Sources. They
// are asked for once, before anything runs, and must not change afterwards.
type Provider interface {
	Sources() Sources
}

// Check tells what is wrong with s.
func (s Sources) Check() error {
	var errs []error
	owned := map[schema.GroupKind]bool{}
	for i, o := range s.Owned {
		switch {
		case o.Kind.Kind == "" || o.Kind.Version == "":
			errs = append(errs, fmt.Errorf("owned[%d]: kind %q: needs a version and a kind", i, o.Kind))
		case owned[o.Kind.GroupKind()]:
			errs = append(errs, fmt.Errorf("owned[%d]: %s: is there twice: join its filters by filter.And or filter.Or", i, o.Kind.GroupKind()))
		}
		owned[o.Kind.GroupKind()] = true
	}
	for i, m := range s.Mapped {
		switch {
		case m.Kind.Kind == "" || m.Kind.Version == "":
			errs = append(errs, fmt.Errorf("mapped[%d]: kind %q: needs a version and a kind", i, m.Kind))
		case m.Keys == nil:
			errs = append(errs, fmt.Errorf("mapped[%d]: %s: its Keys is nil", i, m.Kind.GroupKind()))
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
	if external == nil {
		return errors.New("is nil")
	}
	if value := reflect.ValueOf(external); value.Kind() == reflect.Func && value.IsNil() {
		return errors.New("is nil")
	}
	if checked, ok := external.(interface{ check() error }); ok {
		return checked.check()
	}
	return nil
}

// Of returns what value, a reconciler or a controller, says of its Sources, none if it says nothing. What is wrong with
// them is an error, and so are a panic and a method Sources that isn't that of a Provider.
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
	if err := sources.Check(); err != nil {
		return Sources{}, fmt.Errorf("%T: its sources: %w", value, err)
	}
	return sources, nil
}
