package versions

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// longestEvent is how long a version may think about an event: other events wait meanwhile.
const longestEvent = 2 * time.Second

// happened is an event as it is sent.
func happened(about wire.Happened, event deploy.Event) wire.Happened {
	about.Type, about.New = string(event.Type), event.New.Object
	if event.Old != nil {
		about.Old = event.Old.Object
	}
	return about
}

// asks asks a version whether an event counts. It does when that can't be known.
func (l *life) asks(about wire.Happened, event deploy.Event) bool {
	ctx, cancel := context.WithTimeout(l.pool.ctx, longestEvent)
	defer cancel()
	counts := true
	if err := l.peer.Call(ctx, wire.When, happened(about, event), &counts); err != nil {
		l.pool.options.Logger.Warn("a version can't tell whether an event counts; it does", "version", l.version.name, "error", err)
		return true
	}
	return counts
}

// mapper asks the versions that run which resources an event of a kind concerns.
func (p *Pool) mapper(u *union, of wire.Kind) func(deploy.Event) []request.Key {
	return func(event deploy.Event) (keys []request.Key) {
		for _, l := range p.lives(u.kind) {
			r := l.ruled(u.kind)
			for i, mapped := range r.Mapped {
				about := wire.Happened{Kind: r.Kind, Mapped: i + 1}
				if mapped.Kind != of || mapped.When && !l.asks(about, event) {
					continue
				}
				keys = append(keys, l.keys(about, event)...)
			}
		}
		return keys
	}
}

func (l *life) keys(about wire.Happened, event deploy.Event) []request.Key {
	ctx, cancel := context.WithTimeout(l.pool.ctx, longestEvent)
	defer cancel()
	var refs []wire.Ref
	if err := l.peer.Call(ctx, wire.Keys, happened(about, event), &refs); err != nil {
		l.pool.options.Logger.Warn("a version can't tell which resources an event concerns", "version", l.version.name, "error", err)
	}
	return wire.KeysIn(refs)
}

// activeTarget is where the external sources of a kind bring their keys, until ctx ends.
type activeTarget struct {
	ctx    context.Context
	target source.Target
}

func (p *Pool) activeTargets() map[schemaKind]*activeTarget {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.targets)
}

// runExternal runs the external sources of all versions that run, now or later, until ctx ends.
func (p *Pool) runExternal(ctx context.Context, kind schemaKind, target source.Target) {
	active := &activeTarget{ctx, target}
	p.mu.Lock()
	p.targets[kind] = active
	p.mu.Unlock()
	for _, l := range p.lives(kind) {
		l.external(kind, active)
	}
	<-ctx.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.targets[kind] == active {
		delete(p.targets, kind)
	}
}

// external runs the external sources of one process.
func (l *life) external(kind schemaKind, active *activeTarget) {
	ruled := l.ruled(kind)
	if ruled == nil || ruled.External == 0 {
		return
	}
	if _, runs := l.externals.LoadOrStore(active, true); runs {
		return
	}
	l.pool.running.Go(func() {
		ctx, cancel := context.WithCancel(active.ctx)
		defer cancel()
		defer context.AfterFunc(l.pool.ctx, cancel)()
		if err := l.peer.Call(ctx, wire.External, ruled.Kind, nil); err != nil && ctx.Err() == nil && !errors.Is(err, wire.ErrGone) {
			active.target.Failed(err)
		}
	})
}
