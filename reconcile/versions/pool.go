package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Pool runs the versions of an operator, each as a process of its own. It is safe for concurrent use.
type Pool struct {
	options Options
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	kinds   []*union

	mu       sync.Mutex
	versions map[string]*version
	// sessions are those under way, by their ids.
	sessions map[string]*session
	// targets are where external sources bring their keys, by kind.
	targets map[schema.GroupVersionKind]*activeTarget
	closed  bool
}

// Start starts every version that the directory holds once, so that all that is wrong with one is known, and returns when each has said
// what it controls. The error names every version that can't be served. Close the Pool when it is no longer used.
func Start(ctx context.Context, options Options) (*Pool, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	names, err := options.found()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("versions: %s holds none: a version is a folder with the program %s", options.Directory, options.Entry)
	}
	p := &Pool{options: options, versions: map[string]*version{}, sessions: map[string]*session{}, targets: map[schema.GroupVersionKind]*activeTarget{}}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var errs []error
	for _, name := range names {
		p.versions[name] = &version{name: name, pool: p}
	}
	for _, name := range names {
		_, release, err := p.versions[name].acquire(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		release()
	}
	if len(errs) == 0 {
		p.kinds, err = unite(p)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		p.Close()
		return nil, err
	}
	p.running.Go(p.tidy)
	return p, nil
}

// Close ends all versions and returns when they have. What is under way fails.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.all()
	p.mu.Unlock()
	p.cancel()
	var stopping sync.WaitGroup
	for _, v := range all {
		stopping.Go(v.stop)
	}
	stopping.Wait()
	p.running.Wait()
}

// all are the versions by their names. The caller holds mu.
func (p *Pool) all() []*version {
	all := make([]*version, 0, len(p.versions))
	for _, v := range p.versions {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *version) int { return strings.Compare(a.name, b.name) })
	return all
}

// Versions are the names of the versions, ascending as text.
func (p *Pool) Versions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, v := range p.all() {
		names = append(names, v.name)
	}
	return names
}

// Controllers are what package reconcile needs: one for each kind that the versions control, which has each resource described by its version.
func (p *Pool) Controllers() []reconcile.Controller {
	controllers := make([]reconcile.Controller, len(p.kinds))
	for i, kind := range p.kinds {
		controllers[i] = &controller{pool: p, union: kind}
		if kind.finalizes {
			controllers[i] = &finalizing{controller{pool: p, union: kind}}
		}
	}
	return controllers
}

// of finds the version that a resource wants.
func (p *Pool) of(name string) (*version, error) {
	if name == "" {
		return nil, reconcile.Configuration("it says no version: choose one of %s", strings.Join(p.Versions(), ", "))
	}
	p.mu.Lock()
	v := p.versions[name]
	p.mu.Unlock()
	if v != nil {
		return v, nil
	}
	found, err := p.options.found()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(found, name) {
		return nil, reconcile.Configuration("there is no version %q: choose one of %s", name, strings.Join(found, ", "))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.versions[name] == nil {
		p.versions[name] = &version{name: name, pool: p}
	}
	return p.versions[name], nil
}

// makeRoom stops the version that is unused for longest if as many run as may, beside the one that is to be started.
func (p *Pool) makeRoom(beside *version) error {
	p.mu.Lock()
	all := p.all()
	p.mu.Unlock()
	count := 0
	var unused *version
	for _, v := range all {
		if v == beside {
			continue
		}
		running, since := v.idleSince()
		if running {
			count++
		}
		if !since.IsZero() && (unused == nil || since.Before(unused.lastUse())) {
			unused = v
		}
	}
	if count < p.options.Limit {
		return nil
	}
	if unused == nil || !unused.stopIdle(0) {
		return request.RetryAfter(time.Second, reconcile.Precondition("%d versions run, as many as may at once, and all are in use", count))
	}
	return nil
}

// tidy stops what isn't used any more.
func (p *Pool) tidy() {
	ticker := time.NewTicker(max(p.options.Idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		all := p.all()
		p.mu.Unlock()
		for _, v := range all {
			v.stopIdle(p.options.Idle)
		}
	}
}

// lives are the processes that run and control a kind.
func (p *Pool) lives(kind schema.GroupVersionKind) []*life {
	p.mu.Lock()
	all := p.all()
	p.mu.Unlock()
	var lives []*life
	for _, v := range all {
		if l := v.alive(); l != nil && l.ruled(kind) != nil {
			lives = append(lives, l)
		}
	}
	return lives
}

func (p *Pool) session(id string) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[id]
}

// about finds a session under way of a resource.
func (p *Pool) about(ref wire.Ref) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		if (deploy.Ref{Kind: s.local.Kind(), Namespace: s.local.Namespace(), Name: s.local.Name()}) == ref.Ref() {
			return s
		}
	}
	return nil
}
