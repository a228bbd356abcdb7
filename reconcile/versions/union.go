package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type schemaKind = schema.GroupVersionKind

// union is one kind with what any version declares of it.
type union struct {
	kind      schemaKind
	scope     deploy.Scope
	finalizes bool
	sources   source.Sources
	// declared are the sources in a form that can be compared.
	declared wire.Ruled
}

// unite joins what all versions have said.
func unite(p *Pool) ([]*union, error) {
	var unions []*union
	var errs []error
	for _, v := range p.all() {
		l := v.alive()
		if l == nil {
			return nil, fmt.Errorf("version %s: its process has ended before all others have started: is there enough memory for %d?", v.name, len(p.versions))
		}
		for _, ruled := range l.said.Kinds {
			scope := cmp.Or(deploy.Scope(ruled.Scope), deploy.Namespaced)
			at := slices.IndexFunc(unions, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
			if at < 0 {
				unions = append(unions, &union{kind: ruled.Kind.GVK(), scope: scope, declared: wire.Ruled{Kind: ruled.Kind}})
				at = len(unions) - 1
			}
			if unions[at].scope != scope {
				errs = append(errs, fmt.Errorf("version %s: says another scope of the kind %s than the versions before it", v.name, ruled.Kind.Name))
			}
			unions[at].join(ruled)
		}
	}
	for _, u := range unions {
		u.sources = p.sourcesOf(u)
	}
	return unions, errors.Join(errs...)
}

// join adds what one version declares.
func (u *union) join(r wire.Ruled) {
	u.finalizes = u.finalizes || slices.Contains(r.Hooks, wire.Finalize)
	u.declared.When = u.declared.When || r.When
	u.declared.External = max(u.declared.External, r.External)
	u.declared.Owned = joined(u.declared.Owned, r.Owned)
	u.declared.Mapped = joined(u.declared.Mapped, r.Mapped)
}

func joined(to, more []wire.Source) []wire.Source {
	for _, one := range more {
		at := slices.IndexFunc(to, func(other wire.Source) bool { return other.Kind == one.Kind })
		if at < 0 {
			to = append(to, wire.Source{Kind: one.Kind, When: one.When})
		} else {
			to[at].When = to[at].When || one.When
		}
	}
	return to
}

// fits tells whether what a process declares was known at the start: what is watched can't be changed later.
func (p *Pool) fits(l *life) error {
	if p.kinds == nil {
		return nil // this is the start
	}
	for _, ruled := range l.said.Kinds {
		at := slices.IndexFunc(p.kinds, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
		if at < 0 {
			return fmt.Errorf("it controls the kind %s, which no version did at the start: start the operator again", ruled.Kind.Name)
		}
		known := p.kinds[at]
		more := *known
		more.declared.Owned, more.declared.Mapped = slices.Clone(known.declared.Owned), slices.Clone(known.declared.Mapped)
		more.join(ruled)
		if more.finalizes != known.finalizes || more.declared.When != known.declared.When || more.declared.External > 0 != (known.declared.External > 0) ||
			!slices.Equal(more.declared.Owned, known.declared.Owned) || !slices.Equal(more.declared.Mapped, known.declared.Mapped) {
			return fmt.Errorf("it declares sources, or a Finalize, of the kind %s that no version did at the start: start the operator again", ruled.Kind.Name)
		}
	}
	return nil
}

// sourcesOf are the sources of all versions as those of one controller.
func (p *Pool) sourcesOf(u *union) (s source.Sources) {
	if u.declared.When {
		s.When = func(event deploy.Event) bool {
			return p.anyone(u.kind, func(l *life, r *wire.Ruled) bool {
				return !r.When && filter.Standard()(event) || r.When && l.asks(wire.Happened{Kind: r.Kind}, event)
			})
		}
	}
	for _, one := range u.declared.Owned {
		owned := source.Owned{Kind: one.Kind.GVK()}
		if one.When {
			owned.When = func(event deploy.Event) bool {
				return p.anyone(u.kind, func(l *life, r *wire.Ruled) bool {
					at := indexOf(r.Owned, one.Kind)
					return at >= 0 && (!r.Owned[at].When || l.asks(wire.Happened{Kind: r.Kind, Owned: at + 1}, event))
				})
			}
		}
		s.Owned = append(s.Owned, owned)
	}
	for _, one := range u.declared.Mapped {
		s.Mapped = append(s.Mapped, source.Mapped{Kind: one.Kind.GVK(), Keys: p.mapper(u, one.Kind)})
	}
	if u.declared.External > 0 {
		s.External = []source.External{source.Func(func(ctx context.Context, target source.Target) { p.runExternal(ctx, u.kind, target) })}
	}
	return s
}

func indexOf(sources []wire.Source, kind wire.Kind) int {
	return slices.IndexFunc(sources, func(s wire.Source) bool { return s.Kind == kind })
}

// anyone tells whether an event counts for any version that runs. When none does it counts: whoever is started for it sees for itself.
func (p *Pool) anyone(kind schemaKind, counts func(l *life, r *wire.Ruled) bool) bool {
	lives := p.lives(kind)
	for _, l := range lives {
		if counts(l, l.ruled(kind)) {
			return true
		}
	}
	return len(lives) == 0
}
