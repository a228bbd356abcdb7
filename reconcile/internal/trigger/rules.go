package trigger

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules tell which events bring the objects of one controlled kind to reconcile, by its Sources. What a user wrote may
// panic: that is logged once for each, and gets no further. Rules are safe for concurrent use. Make them by NewRules.
type Rules struct {
	kind    schema.GroupVersionKind
	forced  string
	logger  *slog.Logger
	sources source.Sources
	when    predicate
	owned   map[schema.GroupKind]*predicate
	mapped  []*mapping
	strange sync.Once
}

// NewRules returns the Rules of sources, which have been checked, for the objects of kind. The annotation that forces a
// reconcile is one of domain.
func NewRules(kind schema.GroupVersionKind, sources source.Sources, domain string, logger *slog.Logger) *Rules {
	r := &Rules{
		kind: kind, forced: domain + ForcedBy, logger: logger, sources: sources,
		when: predicate{filter: sources.When, of: kind.GroupKind().String()}, owned: map[schema.GroupKind]*predicate{},
	}
	if sources.When == nil {
		r.when.filter = standard
	}
	for _, owned := range sources.Owned {
		r.owned[owned.Kind.GroupKind()] = &predicate{
			filter: owned.When, of: owned.Kind.GroupKind().String() + " of " + kind.GroupKind().String(),
		}
	}
	for _, mapped := range sources.Mapped {
		of := mapped.Kind.GroupKind().String() + " mapped to " + kind.GroupKind().String()
		r.mapped = append(r.mapped, &mapping{predicate{filter: mapped.When, of: of}, mapped.Keys, sync.Once{}})
	}
	return r
}

// Kind is the controlled kind.
func (r *Rules) Kind() schema.GroupVersionKind { return r.kind }

// Sources are those that the Rules were made of.
func (r *Rules) Sources() source.Sources { return r.sources }

// Counts tells whether an event of a controlled object brings it to reconcile, and whether somebody forces that. One
// that left the view is never brought.
func (r *Rules) Counts(event deploy.Event) (counts, forced bool) {
	if event.Type == deploy.Left {
		return false, false
	}
	forced = isForced(event, r.forced)
	return forced || !leasing(event) && r.when.passes(event, r.logger), forced
}

// CountsOwned tells whether an event of a child of a kind may bring its owners.
func (r *Rules) CountsOwned(child schema.GroupVersionKind, event deploy.Event) bool {
	owned := r.owned[child.GroupKind()]
	return owned == nil || owned.passes(event, r.logger)
}

// Mapped returns the keys that an event of the kind concerns that stands at a place of Sources.Mapped.
func (r *Rules) Mapped(place int, event deploy.Event) []deploy.Ref {
	mapped := r.mapped[place]
	if !concernsOthers(event) || !mapped.passes(event, r.logger) {
		return nil
	}
	return r.Own(mapped.call(event, r.logger)...)
}

// Own returns those of keys that name objects of the kind, complete.
func (r *Rules) Own(keys ...deploy.Ref) (own []deploy.Ref) {
	for _, key := range keys {
		if key.Kind.Empty() || key.Kind.GroupKind() == r.kind.GroupKind() {
			key.Kind = r.kind
		}
		if key.Kind != r.kind || key.Name == "" {
			r.strange.Do(func() {
				r.logger.Error("a source brings what is no object of its kind: left out", "kind", r.kind.Kind, "key", fmt.Sprintf("%q", key))
			})
			continue
		}
		own = append(own, key)
	}
	return own
}

// predicate is a user's filter.
type predicate struct {
	filter filter.Predicate
	// of says whose events it is for.
	of       string
	panicked sync.Once
}

// passes tells what the filter says; what it panics at counts.
func (p *predicate) passes(event deploy.Event, logger *slog.Logger) (passes bool) {
	if p.filter == nil {
		return true
	}
	defer func() {
		if value := recover(); value != nil {
			passes = true
			p.panicked.Do(func() {
				logger.Error("a filter panics: what it panics at counts", "kind", p.of, "value", value)
			})
		}
	}()
	return p.filter(event)
}

// mapping is a user's function from an event to keys, behind its filter.
type mapping struct {
	predicate
	keys   func(deploy.Event) []deploy.Ref
	failed sync.Once
}

func (m *mapping) call(event deploy.Event, logger *slog.Logger) (keys []deploy.Ref) {
	defer func() {
		if value := recover(); value != nil {
			keys = nil
			m.failed.Do(func() {
				logger.Error("a mapping panics: what it panics at concerns nobody", "kind", m.of, "value", value)
			})
		}
	}()
	return m.keys(event)
}
