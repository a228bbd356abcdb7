package cluster

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/selection"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// longestLook is the longest pause between two discoveries of a kind while CustomResourceDefinitions are watched.
// Discovery is still needed because kinds of aggregated API servers have no CustomResourceDefinition.
const longestLook = time.Minute

// anyGroup stands for all groups.
const anyGroup = "*"

// definitions waits for kinds that aren't served yet. From the first wait on, it watches the metadata of
// CustomResourceDefinitions. If this watch isn't allowed, it polls discovery instead.
type definitions struct {
	store *store
	begin sync.Once
	kind  *watchedKind

	mu sync.Mutex
	// changed are channels by group, and one for anyGroup. A channel is closed when a CustomResourceDefinition of the
	// group is added, changed or deleted.
	changed map[string]chan struct{}
}

func newDefinitions(s *store) *definitions {
	d := &definitions{store: s, changed: map[string]chan struct{}{}}
	d.kind = s.newWatchedKind(definitionKind, true, selection.Selection{})
	d.kind.optional = true
	return d
}

// await waits until kind is served, and returns the resource that serves it. If ctx ends first, it returns the cause of
// ctx.
func (d *definitions) await(ctx context.Context, kind schema.GroupVersionKind) (resource, error) {
	d.begin.Do(d.watch)
	for delay := firstTry; ; {
		changed := d.changes(kind.Group)
		found, err := d.store.resources.of(ctx, kind)
		if err == nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return resource{}, context.Cause(ctx)
		}
		select {
		case <-ctx.Done():
		case <-d.store.ctx.Done():
			return resource{}, context.Cause(d.store.ctx)
		case <-changed:
			delay = firstTry // a new kind is served a moment after its definition was created
		case <-time.After(delay):
			delay = min(2*delay, d.longest())
		}
	}
}

// longest returns the longest pause between two discoveries.
func (d *definitions) longest() time.Duration {
	if i := d.kind.of(""); i != nil && i.isCurrent() {
		return longestLook
	}
	return longestTry
}

func (d *definitions) watch() {
	where := resource{GroupVersionResource: definitionKind.GroupVersion().WithResource("customresourcedefinitions"), scope: deploy.ClusterScoped}
	d.kind.subscribe(d.store.ctx, d.observe)
	d.store.running.Go(func() { d.kind.run(d.store.ctx, where) })
}

// observe wakes the await calls that wait for kinds of the definition's group. If the definition was deleted, it also
// requests a check whether its kind is still served.
func (d *definitions) observe(event deploy.Event) {
	plural, group, _ := strings.Cut(event.New.GetName(), ".")
	if event.Type == deploy.Deleted {
		d.store.lose(schema.GroupResource{Group: group, Resource: plural})
	}
	d.store.resources.forget()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, which := range []string{group, anyGroup} {
		if waiting, ok := d.changed[which]; ok {
			close(waiting)
			delete(d.changed, which)
		}
	}
}

func (d *definitions) changes(group string) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changed[group] == nil {
		d.changed[group] = make(chan struct{})
	}
	return d.changed[group]
}
