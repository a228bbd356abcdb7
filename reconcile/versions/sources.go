package versions

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// sourcesOf are the sources of all versions as those of one controller.
func (p *Pool) sourcesOf(u *union) (s source.Sources) {
	standard := filter.Standard()
	s.When = func(event deploy.Event) bool {
		if event.Type == deploy.Deleted {
			p.leave(deploy.RefOf(event.New))
		}
		return p.anyone(u.kind, func(r ruling) bool {
			return !r.When && standard(event) || r.When && r.life.counts(wire.Happened{Kind: r.Kind}, event)
		})
	}
	for _, kind := range u.declared.owned {
		s.Owned = append(s.Owned, source.Owned{Kind: kind.GVK(), When: func(event deploy.Event) bool {
			return p.anyone(u.kind, func(r ruling) bool {
				for i, owned := range r.Owned {
					if owned.Kind == kind && (!owned.When || r.life.counts(wire.Happened{Kind: r.Kind, Owned: i + 1}, event)) {
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
	*wire.Ruled
	version *version
	// life is its process, nil if none runs.
	life *life
}

// ruling are the versions that control a kind.
func (p *Pool) ruling(kind schemaKind) (all []ruling) {
	for _, v := range p.all() {
		said, l := v.declared()
		if said == nil {
			continue
		}
		if ruled := said.Ruled(wire.NewKind(kind)); ruled != nil {
			all = append(all, ruling{ruled, v, l})
		}
	}
	return all
}

// anyone tells whether an event counts for any version.
func (p *Pool) anyone(kind schemaKind, counts func(ruling) bool) bool {
	for _, r := range p.ruling(kind) {
		if counts(r) {
			return true
		}
	}
	return false
}

// keys are the resources that an event concerns, by the mapped source of a version. Where that can't be known they are all that the version has
// described: what it would have said isn't lost.
func (p *Pool) keys(r ruling, source int, event deploy.Event) []deploy.Ref {
	about := wire.Happened{Kind: r.Kind, Mapped: source + 1}
	if r.Mapped[source].When && !r.life.counts(about, event) {
		return nil
	}
	keys, ok := r.life.keys(about, event)
	if !ok {
		return p.residentsOf(r.version, r.Kind.GVK())
	}
	return keys
}

// reside notes which version describes a resource.
func (p *Pool) reside(key deploy.Ref, in *version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.residents[key] = in
}

// leave forgets a resource that is gone.
func (p *Pool) leave(key deploy.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.residents, key)
}

func (p *Pool) residentsOf(v *version, kind schemaKind) (keys []deploy.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, in := range p.residents {
		if in == v && key.Kind == kind {
			keys = append(keys, key)
		}
	}
	return keys
}
