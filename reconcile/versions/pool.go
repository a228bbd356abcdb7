package versions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// Pool runs the versions of an operator, each in its own process. It is safe for concurrent use.
type Pool struct {
	options Options
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// room holds a value while makeRoom runs.
	room chan struct{}

	mu     sync.Mutex
	closed bool
	// unions are the kinds that the versions control; nil until all versions have been started once.
	unions   []*union
	versions map[string]*version
	// sessions are the running sessions, by id.
	sessions map[string]*session
	// residents has the *version that described a resource last, by the deploy.Ref of the resource.
	residents sync.Map
	// targets receive the keys of external sources, by kind.
	targets map[schemaKind]*activeTarget
}

// Start starts every version in the directory once, and returns when each has declared the kinds that it controls. The
// error names every version that failed. Close the Pool when it is no longer used. The end of ctx ends only Start, not
// the Pool.
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
		return nil, fmt.Errorf("versions: directory %s has no version: a version is a folder with the program %s", options.Directory, options.Entry)
	}
	p := &Pool{
		options: options, room: make(chan struct{}, 1), versions: map[string]*version{}, sessions: map[string]*session{},
		targets: map[schemaKind]*activeTarget{},
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

// startAll starts each version to get its declaration.
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

// run runs a function in a goroutine that Close waits for, unless the pool is closed.
func (p *Pool) run(something func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(something)
	}
}

// Close ends all versions and returns when they have ended. Calls under way fail, and so do later calls.
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

// all returns the versions, by name.
func (p *Pool) all() []*version {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.versions), func(a, b *version) int { return strings.Compare(a.name, b.name) })
}

// Versions returns the names of the versions in lexical order.
func (p *Pool) Versions() []string {
	var names []string
	for _, v := range p.all() {
		names = append(names, v.name)
	}
	return names
}

// Controllers returns a controller for each kind that the versions control. It reconciles each resource by the version
// that the resource names.
func (p *Pool) Controllers() []reconcile.Controller {
	p.mu.Lock()
	defer p.mu.Unlock()
	controllers := make([]reconcile.Controller, len(p.unions))
	for i, kind := range p.unions {
		controllers[i] = controllerOf(controller{pool: p, union: kind})
	}
	return controllers
}

var errClosed = errors.New("the versions are closed")

// of returns the version that a resource names.
func (p *Pool) of(name string) (*version, error) {
	if name == "" {
		return nil, request.Configuration("it names no version: choose one of %s", strings.Join(p.Versions(), ", "))
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
		return nil, request.Configuration("there is no version %q: choose one of %s", name, strings.Join(found, ", "))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.versions[name] == nil { // the folder was added after the start
		p.versions[name] = &version{name: name, pool: p}
	}
	return p.versions[name], nil
}

// found returns the versions in the directory in lexical order.
func (o Options) found() ([]string, error) {
	entries, err := os.ReadDir(o.Directory)
	if err != nil {
		return nil, fmt.Errorf("versions: the directory can't be read: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // Kubernetes keeps another copy of a volume's content in such folders
		}
		if info, err := os.Stat(o.program(entry.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// program returns the path of a version's program.
func (o Options) program(version string) string { return filepath.Join(o.Directory, version, o.Entry) }

// whenCrowded is the time before the next attempt to start a version while Limit versions run.
const whenCrowded = time.Second

// makeRoom counts the version that is about to start against Limit. If there are too many versions, it stops the
// version that has been unused for longest.
func (p *Pool) makeRoom(ctx context.Context, needed *version) error {
	select {
	case p.room <- struct{}{}:
		defer func() { <-p.room }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	taken := 0
	var unused *version
	var since time.Time
	for _, v := range p.all() {
		placed, used, inUse := v.place()
		if placed {
			taken++
		}
		if placed && !inUse && (unused == nil || used.Before(since)) {
			unused, since = v, used
		}
	}
	if taken >= p.options.Limit && (unused == nil || !unused.stopIdle(0)) {
		return request.RetryAfter(whenCrowded, request.Precondition("%d versions run, which is the limit, and all are in use", taken))
	}
	needed.takePlace()
	return nil
}

// tidy stops versions that are unused for Idle.
func (p *Pool) tidy() {
	ticker := time.NewTicker(max(p.options.Idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		for _, v := range p.all() {
			v.stopIdle(p.options.Idle)
		}
	}
}
