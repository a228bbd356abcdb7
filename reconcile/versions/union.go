package versions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type schemaKind = schema.GroupVersionKind

// union is one kind with what any version declares of it.
type union struct {
	kind     schemaKind
	scope    deploy.Scope
	declared declared
	sources  source.Sources
}

// declared is what has to be known of a kind from the start, since what is watched, and whether there is a finalizer, can't be changed later.
type declared struct {
	finalizes, external bool
	owned, mapped       []wire.Kind
}

// unite joins what all versions have said.
func (p *Pool) unite() ([]*union, error) {
	var unions []*union
	var errs []error
	for _, v := range p.all() {
		said, _ := v.declared()
		for i := range said.Kinds {
			ruled := &said.Kinds[i]
			at := slices.IndexFunc(unions, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
			if at < 0 {
				unions = append(unions, &union{kind: ruled.Kind.GVK(), scope: scopeOf(ruled)})
				at = len(unions) - 1
			}
			if unions[at].scope != scopeOf(ruled) {
				errs = append(errs, fmt.Errorf("version %s: says another scope of the kind %s than the versions before it", v.name, ruled.Kind.Name))
			}
			unions[at].declared.join(ruled)
		}
	}
	for _, u := range unions {
		u.sources = p.sourcesOf(u)
	}
	return unions, errors.Join(errs...)
}

func scopeOf(ruled *wire.Ruled) deploy.Scope {
	return cmp.Or(deploy.Scope(ruled.Scope), deploy.Namespaced)
}

// join adds what one version declares, and tells whether that was more than is known.
func (d *declared) join(r *wire.Ruled) (more bool) {
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
	return more
}

// fits tells whether what a process declares was known when all versions had been started once.
func (p *Pool) fits(said *wire.Declaration) error {
	p.mu.Lock()
	unions := p.unions
	p.mu.Unlock()
	if unions == nil {
		return nil // this is the start
	}
	for i := range said.Kinds {
		ruled := &said.Kinds[i]
		at := slices.IndexFunc(unions, func(u *union) bool { return u.kind == ruled.Kind.GVK() })
		if at < 0 {
			return fmt.Errorf("it controls the kind %s, which no version did at the start: start the operator again", ruled.Kind.Name)
		}
		if unions[at].scope != scopeOf(ruled) {
			return fmt.Errorf("it says another scope of the kind %s than the versions at the start", ruled.Kind.Name)
		}
		known := unions[at].declared
		known.owned, known.mapped = slices.Clip(known.owned), slices.Clip(known.mapped)
		if known.join(ruled) {
			return fmt.Errorf("it declares sources, or a Finalize, of the kind %s that no version did at the start: start the operator again", ruled.Kind.Name)
		}
	}
	return nil
}
