package versions

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// activeTarget is where the external sources of a kind bring their keys, until ctx ends.
type activeTarget struct {
	ctx    context.Context
	kind   schemaKind
	target source.Target
}

// runExternal runs the external sources of all versions that run, now or later, until ctx ends.
func (p *Pool) runExternal(ctx context.Context, kind schemaKind, target source.Target) {
	active := &activeTarget{ctx, kind, target}
	p.mu.Lock()
	p.targets[kind] = active
	p.mu.Unlock()
	for _, r := range p.ruling(kind) {
		if r.life != nil {
			r.life.external(active)
		}
	}
	<-ctx.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.targets[kind] == active {
		delete(p.targets, kind)
	}
}

func (p *Pool) target(kind schemaKind) *activeTarget {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.targets[kind]
}

// bringExternals runs the external sources of one process, once its version knows of it, so that it is found by whoever comes later.
func (l *life) bringExternals() {
	for _, ruled := range l.said.Kinds {
		if active := l.pool.target(ruled.Kind.GVK()); active != nil {
			l.external(active)
		}
	}
}

// external runs the external sources of one process, once for each target.
func (l *life) external(active *activeTarget) {
	kind := wire.NewKind(active.kind)
	if ruled := l.said.Ruled(kind); ruled == nil || ruled.External == 0 {
		return
	}
	if _, runs := l.externals.LoadOrStore(active, true); runs {
		return
	}
	l.pool.run(func() {
		ctx, cancel := context.WithCancel(active.ctx)
		defer cancel()
		defer context.AfterFunc(l.pool.ctx, cancel)()
		err := l.peer.Call(ctx, wire.External, kind, nil)
		l.externals.Delete(active)
		if err != nil && ctx.Err() == nil && !errors.Is(err, wire.ErrGone) {
			active.target.Failed(err)
		}
	})
}

// bring passes on what an external source brings, or why it can't be read.
func (p *Pool) bring(b wire.Brought, failed bool) error {
	active := p.target(b.Kind.GVK())
	switch {
	case active == nil:
	case failed:
		active.target.Failed(errors.New(b.Text))
	default:
		active.target.Bring(wire.KeysIn(b.Keys)...)
	}
	return nil
}

// known are the resources of a kind that external sources may ask for.
func (p *Pool) known(kind schemaKind) []deploy.Ref {
	if active := p.target(kind); active != nil {
		return active.target.Keys()
	}
	return nil
}
