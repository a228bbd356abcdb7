package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
)

// Pool runs the versions of an operator, each as a process of its own. It is safe for concurrent use.
type Pool struct {
	options Options
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// room holds a value while somebody makes room for a process.
	room chan struct{}

	mu     sync.Mutex
	closed bool
	// unions are the kinds that versions control; nil until all have been started once.
	unions   []*union
	versions map[string]*version
	// sessions are those under way, by their ids.
	sessions map[string]*session
	// residents are resources with the version that has last described them.
	residents map[deploy.Ref]*version
	// targets are where external sources bring their keys, by kind.
	targets map[schemaKind]*activeTarget
}

// Start starts every version that the directory holds once, so that all that is wrong with one is known, and returns when each has said
// what it controls. The error names every version that can't be served. Close the Pool when it is no longer used; the end of ctx ends the
// start alone.
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
	p := &Pool{
		options: options, room: make(chan struct{}, 1), versions: map[string]*version{}, sessions: map[string]*session{},
		residents: map[deploy.Ref]*version{}, targets: map[schemaKind]*activeTarget{},
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, name := range names {
		p.versions[name] = &version{name: name, pool: p}
	}
	if err := p.startAll(ctx); err != nil {
		p.Close()
		return nil, err
	}
	p.run(p.tidy)
	return p, nil
}

// startAll starts each version, so that it says what it controls.
func (p *Pool) startAll(ctx context.Context) error {
	var errs []error
	for _, v := range p.all() {
		_, release, err := v.acquire(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		release()
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	unions, err := p.unite()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unions = unions
	return err
}

// run runs something that ends with the pool. After that it doesn't begin any more.
func (p *Pool) run(something func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(something)
	}
}

// Close ends all versions and returns when they have. What is under way fails, and so does all that is asked for later.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	var stopping sync.WaitGroup
	for _, v := range p.all() {
		stopping.Go(v.close)
	}
	stopping.Wait()
	p.running.Wait()
}

// all are the versions by their names.
func (p *Pool) all() []*version {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*version, 0, len(p.versions))
	for _, v := range p.versions {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *version) int { return strings.Compare(a.name, b.name) })
	return all
}

// Versions are the names of the versions, ascending as text.
func (p *Pool) Versions() []string {
	var names []string
	for _, v := range p.all() {
		names = append(names, v.name)
	}
	return names
}

// Controllers are what package reconcile needs: one for each kind that the versions control, which has each resource described by its version.
func (p *Pool) Controllers() []reconcile.Controller {
	p.mu.Lock()
	defer p.mu.Unlock()
	controllers := make([]reconcile.Controller, len(p.unions))
	for i, kind := range p.unions {
		controllers[i] = &controller{pool: p, union: kind}
		if kind.declared.finalizes {
			controllers[i] = &finalizing{controller{pool: p, union: kind}}
		}
	}
	return controllers
}

var errClosed = errors.New("the versions are closed")

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
	if p.closed {
		return nil, errClosed
	}
	if p.versions[name] == nil { // a folder that has come since the start
		p.versions[name] = &version{name: name, pool: p}
	}
	return p.versions[name], nil
}
