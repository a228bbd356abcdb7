package versions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

const (
	// longestEvent bounds the time that a version may take for one event. All other events wait meanwhile.
	longestEvent = 2 * time.Second
	// impatient is the time for which a version isn't called for events after a call took longer than longestEvent.
	impatient = 30 * time.Second
)

// patience suspends the calls of a process for events after a call took too long.
type patience struct {
	mu sync.Mutex
	// lost is the time until which the process isn't called for events.
	lost time.Time
	// logged: a failure was logged.
	logged bool
}

// counts reports whether an event counts for a version. It returns true if the version doesn't answer: a needless
// reconcile does no harm.
func (proc *process) counts(about wire.EventQuery, event deploy.Event) bool {
	counts := true
	return !proc.asks(wire.When, about, event, &counts) || counts
}

// keys returns the resources that an event concerns according to a version, and false if the version didn't answer.
func (proc *process) keys(about wire.EventQuery, event deploy.Event) ([]deploy.Ref, bool) {
	var refs []wire.Ref
	if !proc.asks(wire.Keys, about, event, &refs) {
		return nil, false
	}
	return wire.KeysIn(refs), true
}

// asks calls a method of a version with an event, and reports whether the version has answered. It returns false for a
// nil proc.
func (proc *process) asks(method string, about wire.EventQuery, event deploy.Event, answer any) bool {
	if proc == nil || proc.patience.isLost() {
		return false
	}
	about.Type, about.New = string(event.Type), event.New.Object
	if event.Old != nil {
		about.Old = event.Old.Object
	}
	ctx, cancel := context.WithTimeout(proc.pool.ctx, longestEvent)
	defer cancel()
	proc.version.count(method)
	err := proc.peer.Call(ctx, method, about, answer)
	if err != nil && proc.patience.fails(errors.Is(err, context.DeadlineExceeded)) {
		proc.pool.options.Logger.Warn("a version can't evaluate an event: the event counts", "version", proc.version.name, "kind", event.New.GetKind(), "error", err)
	}
	return err == nil
}

func (p *patience) isLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.lost)
}

// fails records that a version didn't answer, and reports whether to log the failure: only the first one is logged.
func (p *patience) fails(timeout bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.logged
	p.logged = true
	if timeout {
		p.lost = time.Now().Add(impatient)
	}
	return first
}

// activeTarget receives the keys of the external sources of a kind until ctx ends.
type activeTarget struct {
	ctx    context.Context
	kind   schemaKind
	target source.Target
}

// runExternal runs the external sources of all versions that run now or are started later, until ctx ends.
func (p *Pool) runExternal(ctx context.Context, kind schemaKind, target source.Target) {
	active := &activeTarget{ctx, kind, target}
	p.mu.Lock()
	p.targets[kind] = active
	p.mu.Unlock()
	for _, r := range p.ruling(kind) {
		if r.process != nil {
			r.process.external(active)
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

// bringExternals runs the external sources of one process for the present targets. It is called after the version has
// recorded the process. For targets that are added later, runExternal does the same.
func (proc *process) bringExternals() {
	for _, ruled := range proc.declaration.Kinds {
		if active := proc.pool.target(ruled.Kind.GVK()); active != nil {
			proc.external(active)
		}
	}
}

// external runs the external sources of one process, once for each target.
func (proc *process) external(active *activeTarget) {
	kind := wire.NewKind(active.kind)
	if ruled := proc.declaration.ControlledKind(kind); ruled == nil || ruled.External == 0 {
		return
	}
	if _, runs := proc.externals.LoadOrStore(active, true); runs {
		return
	}
	proc.pool.run(func() {
		ctx, cancel := context.WithCancel(active.ctx)
		defer cancel()
		defer context.AfterFunc(proc.pool.ctx, cancel)()
		err := proc.peer.Call(ctx, wire.External, kind, nil)
		proc.externals.Delete(active)
		if err != nil && ctx.Err() == nil && !errors.Is(err, wire.ErrGone) {
			active.target.Failed(err)
		}
	})
}

// bring passes the keys of an external source, or its error, to the target.
func (p *Pool) bring(b wire.SourceReport, failed bool) error {
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

// known returns the known resources of a kind, for external sources.
func (p *Pool) known(kind schemaKind) []deploy.Ref {
	if active := p.target(kind); active != nil {
		return active.target.Keys()
	}
	return nil
}
