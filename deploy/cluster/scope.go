package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// everywhere stands for all namespaces, watched by one informer, or for the cluster scope.
var everywhere = namespaces{names: map[string]bool{"": true}}

// namespaces are the namespaces to watch.
type namespaces struct {
	names map[string]bool
	// exist are all namespaces of the cluster, nil if unknown.
	exist map[string]bool
	// unread says why the namespaces to watch are unknown. It is nil if they are known.
	unread error
}

// gone reports whether a namespace doesn't exist any more.
func (n namespaces) gone(name string) bool { return n.exist != nil && !n.exist[name] }

// scope determines the namespaces to watch: fixed names, or the namespaces that currently match patterns and labels.
type scope struct {
	patterns []string
	selector labels.Selector
	// kind watches the Namespaces of the cluster. It is nil if the names are fixed.
	kind *watchedKind

	mu      sync.Mutex
	current namespaces
	changed chan struct{}
}

func newScope(s *store, patterns []string, selector labels.Selector) *scope {
	c := &scope{patterns: patterns, selector: selector, changed: make(chan struct{})}
	switch {
	case selector == nil && !slices.ContainsFunc(patterns, func(pattern string) bool { return pattern != "*" }):
		c.current = everywhere
	case selector == nil && areNames(patterns):
		c.current.names = map[string]bool{}
		for _, name := range patterns {
			c.current.names[name] = true
		}
	default:
		c.current.unread = errBeginning
		c.kind = s.newWatchedKind(namespaceKind, true, selection.Selection{})
	}
	return c
}

// start watches the namespaces until ctx ends.
func (c *scope) start(ctx context.Context) {
	if c.kind == nil {
		return
	}
	events := make(chan struct{}, 1)
	subscription := c.kind.subscribe(ctx, func(deploy.Event) {
		select {
		case events <- struct{}{}:
		default: // an update is pending already
		}
	})
	where := resource{GroupVersionResource: namespaceKind.GroupVersion().WithResource("namespaces"), scope: deploy.ClusterScoped}
	running := &c.kind.store.running
	running.Go(func() { c.kind.run(ctx, where) })
	running.Go(func() {
		synced := func(ctx context.Context) (bool, error) { return subscription.Synced(ctx) == nil, nil }
		if wait.PollUntilContextCancel(ctx, firstTry, true, synced) != nil {
			return
		}
		for {
			c.look()
			select {
			case <-ctx.Done():
				return
			case <-events:
			}
		}
	})
}

// failure returns the error of the latest try to list Namespaces. It returns nil if there is none, or if an earlier
// list has succeeded.
func (c *scope) failure() error {
	if c.kind == nil {
		return nil
	}
	if i := c.kind.of(""); i != nil {
		if now, failure := i.state(); now == starting && failure != nil {
			return fmt.Errorf("find the namespaces in scope: %w", failure)
		}
	}
	return nil
}

// of returns the namespaces to watch for the kinds of the given scope. changed is closed when they change. The
// namespaces of cluster-scoped kinds never change, and changed is nil for them.
func (c *scope) of(scope deploy.Scope) (current namespaces, changed <-chan struct{}) {
	if scope == deploy.ClusterScoped {
		return everywhere, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current, c.changed
}

// look updates the namespaces to watch.
func (c *scope) look() {
	if c.kind.unreadable() != nil {
		return // the namespaces aren't known yet
	}
	now := namespaces{names: map[string]bool{}, exist: map[string]bool{}}
	for _, obj := range c.kind.collect("", func(o *objects) []*unstructured.Unstructured { return o.in("") }) {
		now.exist[obj.GetName()] = true
		if inScope(c.patterns, obj.GetName()) && (c.selector == nil || c.selector.Matches(labels.Set(obj.GetLabels()))) {
			now.names[obj.GetName()] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	same := c.current.unread == nil && maps.Equal(c.current.names, now.names)
	if c.current = now; same {
		return
	}
	close(c.changed)
	c.changed = make(chan struct{})
}
