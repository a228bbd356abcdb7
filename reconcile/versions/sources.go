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

// sourcesOf returns the sources of all versions, for one controller.
func (p *Pool) sourcesOf(u *union) (s source.Sources) {
	standard := filter.Standard()
	s.When = func(event deploy.Event) bool {
		if event.Type == deploy.Deleted {
			p.residents.Delete(deploy.RefOf(event.New))
		}
		return slices.ContainsFunc(p.ruling(u.kind), func(r ruling) bool {
			return !r.When && standard(event) || r.When && r.process.counts(wire.EventQuery{Kind: r.Kind}, event)
		})
	}
	for _, kind := range u.declared.owned {
		s.Owned = append(s.Owned, source.Owned{Kind: kind.GVK(), When: func(event deploy.Event) bool {
			return slices.ContainsFunc(p.ruling(u.kind), func(r ruling) bool {
				for i, owned := range r.Owned {
					if owned.Kind == kind && (!owned.When || r.process.counts(wire.EventQuery{Kind: r.Kind, Owned: i + 1}, event)) {
						return true
					}
				}
				return false
			})
		}})
	}
	for _, kind := range u.declared.mapped {
		s.Mapped = append(s.Mapped, source.Mapped{Kind: kind.GVK(), Keys: func(event deploy.Event) (keys []deploy.Ref) {
			for _, r := range p.ruling(u.kind) {
				for i, mapped := range r.Mapped {
					if mapped.Kind == kind {
						keys = append(keys, p.keys(r, i, event)...)
					}
				}
			}
			return keys
		}})
	}
	if u.declared.external {
		s.External = []source.External{source.Func(func(ctx context.Context, target source.Target) { p.runExternal(ctx, u.kind, target) })}
	}
	return s
}

// ruling is a version that controls a kind.
type ruling struct {
	*wire.ControlledKind
	version *version
	// process is the running process of the version, nil if none runs.
	process *process
}

// ruling returns the versions that control a kind, with their declarations.
func (p *Pool) ruling(kind schemaKind) (all []ruling) {
	for _, v := range p.all() {
		declaration, proc := v.declared()
		if declaration == nil {
			continue
		}
		if ruled := declaration.ControlledKind(wire.NewKind(kind)); ruled != nil {
			all = append(all, ruling{ruled, v, proc})
		}
	}
	return all
}

// keys returns the resources that an event concerns, according to a mapped source of a version. If the version doesn't
// answer, it returns all resources that the version has described.
func (p *Pool) keys(r ruling, source int, event deploy.Event) []deploy.Ref {
	about := wire.EventQuery{Kind: r.Kind, Mapped: source + 1}
	if r.Mapped[source].When && !r.process.counts(about, event) {
		return nil
	}
	keys, ok := r.process.keys(about, event)
	if !ok {
		return p.residentsOf(r.version, r.Kind.GVK())
	}
	return keys
}

// residentsOf returns the resources of a kind whose last description is from the given version.
func (p *Pool) residentsOf(v *version, kind schemaKind) (keys []deploy.Ref) {
	for key, in := range p.residents.Range {
		if ref, _ := key.(deploy.Ref); in == v && ref.Kind == kind {
			keys = append(keys, ref)
		}
	}
	return keys
}

type schemaKind = schema.GroupVersionKind

// union is a kind with the joined declarations of all versions.
type union struct {
	kind     schemaKind
	scope    deploy.Scope
	declared declared
	sources  source.Sources
}

// declared is the part of a declaration that can't change after the start: the watched kinds, the conditions, and
// whether there is a finalizer.
type declared struct {
	finalizes, external bool
	owned, mapped       []wire.Kind
	conditions          []wire.DeclaredCondition
}

// unite joins the declarations of all versions.
func (p *Pool) unite() ([]*union, error) {
	var unions []*union
	var errs []error
	for _, v := range p.all() {
		declaration, _ := v.declared()
		for i := range declaration.Kinds {
			ruled := &declaration.Kinds[i]
			at := slices.IndexFunc(unions, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
			if at < 0 {
				unions = append(unions, &union{kind: ruled.Kind.GVK(), scope: scopeOf(ruled)})
				at = len(unions) - 1
			}
			if unions[at].scope != scopeOf(ruled) {
				errs = append(errs, fmt.Errorf("version %s: declares another scope of the kind %s than the versions before it", v.name, ruled.Kind.Name))
			}
			if err := unions[at].declared.differing(ruled); err != nil {
				errs = append(errs, fmt.Errorf("version %s: %w", v.name, err))
			}
			unions[at].declared.join(ruled)
		}
	}
	for _, u := range unions {
		u.sources = p.sourcesOf(u)
	}
	return unions, errors.Join(errs...)
}

func scopeOf(ruled *wire.ControlledKind) deploy.Scope {
	return cmp.Or(deploy.Scope(ruled.Scope), deploy.Namespaced)
}

// join adds the declaration of one version, and reports whether it added anything.
func (d *declared) join(r *wire.ControlledKind) (more bool) {
	if slices.Contains(r.Hooks, wire.Finalize) && !d.finalizes {
		d.finalizes, more = true, true
	}
	if r.External > 0 && !d.external {
		d.external, more = true, true
	}
	for _, source := range r.Owned {
		if !slices.Contains(d.owned, source.Kind) {
			d.owned, more = append(d.owned, source.Kind), true
		}
	}
	for _, source := range r.Mapped {
		if !slices.Contains(d.mapped, source.Kind) {
			d.mapped, more = append(d.mapped, source.Kind), true
		}
	}
	return d.joinConditions(r) || more
}

// fits returns an error if a process declares more than all versions declared at the start.
func (p *Pool) fits(declaration *wire.Declaration) error {
	p.mu.Lock()
	unions := p.unions
	p.mu.Unlock()
	if unions == nil {
		return nil // this is the start
	}
	for i := range declaration.Kinds {
		ruled := &declaration.Kinds[i]
		at := slices.IndexFunc(unions, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
		if at < 0 {
			return fmt.Errorf("it controls the kind %s, which no version controlled at the start: start the operator again", ruled.Kind.Name)
		}
		if unions[at].scope != scopeOf(ruled) {
			return fmt.Errorf("it declares another scope of the kind %s than the versions at the start", ruled.Kind.Name)
		}
		known := unions[at].declared
		known.owned, known.mapped, known.conditions = slices.Clip(known.owned), slices.Clip(known.mapped), slices.Clip(known.conditions)
		if err := known.differing(ruled); err != nil {
			return err
		}
		if known.join(ruled) {
			return fmt.Errorf("for the kind %s it declares sources, conditions, or a Finalize, that no version declared at the start: start the operator again", ruled.Kind.Name)
		}
	}
	return nil
}
