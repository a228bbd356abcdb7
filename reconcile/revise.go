package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// revision is a function of ReviseObjects.
type revision = func(ctx context.Context, c *Component, object *unstructured.Unstructured) (*unstructured.Unstructured, error)

// ReviseObjects calls revise for each object of each component when all objects of the component are rendered, after
// patches, annotations and the Revise of a Builder. It isn't called for objects that are Finished or Deferred, nor for
// those of a disabled component. revise returns the object to deploy: object itself, or a changed copy with the same
// kind, namespace and name. It doesn't change object, which is shared. It may read what the object refers to by
// Component.Input. An error or a panic fails the component. revise is called concurrently for different components,
// also in a dry run. Several functions are called in the order of the options.
func ReviseObjects(revise func(ctx context.Context, c *Component, object *unstructured.Unstructured) (*unstructured.Unstructured, error)) Option {
	return func(o *options) { o.revisions = append(o.revisions, revise) }
}

// revise passes the objects of c through all functions of ReviseObjects.
func (s *Session) revise(ctx context.Context, c *Component, drafted *finishedRendering) (*finishedRendering, error) {
	revisions := s.reconciler.options.revisions
	if len(revisions) == 0 || c.disabled || c.removed {
		return drafted, nil
	}
	revised := *drafted
	revised.contents = slices.Clone(drafted.contents)
	for i, o := range drafted.objects {
		if o.finished {
			continue
		}
		for _, one := range revisions {
			content, err := failure.Value(func() (*unstructured.Unstructured, error) { return one(ctx, c, revised.contents[i]) })
			if err != nil {
				return nil, fmt.Errorf("object %s: %w", o.name, err)
			}
			if content == nil || deploy.RefOf(content) != deploy.RefOf(drafted.contents[i]) {
				return nil, mistake(fmt.Errorf("object %s: revise objects: the function returned nil or another object: "+
					"return a copy with the same kind, namespace and name", o.name))
			}
			revised.contents[i] = content
		}
	}
	return &revised, nil
}

// Input returns an object that objects of c refer to, such as a Secret, nil if there is none. It is for functions of
// ReviseObjects. An empty namespace in ref means cluster scope. The object is shared: copy it before you change it.
//
// An object of the session is returned as it will be deployed, but without what functions of ReviseObjects change: an
// object of c itself, of a component that c waits for, directly or not, or of a component without a Builder. An object
// of a disabled component is nil, and one with the strategy deploy.CreateOnly is returned as it is in the cluster, if
// it is there. Any other object is read from the cluster and followed (Session.Follow). That is also so for an object
// that a Builder adds to a component that c doesn't wait for: if this reconcile writes the object later, the resource
// is reconciled again.
func (c *Component) Input(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	s := c.session
	o := s.index.holder(s.identityOf(ref))
	switch {
	case o == nil || o.component != c && o.component.builder != nil && !c.waitsFor(o.component):
		s.early.add(s.identityOf(ref))
		if err := s.Follow(ctx, ref); err != nil {
			return nil, err
		}
		return s.Get(ctx, ref)
	case o.component.disabled:
		return nil, nil
	}
	content, err := s.drafted(ctx, o)
	if err == nil && content.GetAnnotations()[s.manager.KeyDomain()+"/strategy"] == string(deploy.CreateOnly) {
		var live *unstructured.Unstructured
		if live, err = s.Get(ctx, ref); live != nil {
			content = live
		}
	}
	return content, err
}

// drafted returns an object as it is deployed, before ReviseObjects.
func (s *Session) drafted(ctx context.Context, o *Object) (*unstructured.Unstructured, error) {
	if o.deferred != nil {
		return o.fetched(ctx)
	}
	if drafted := o.component.rendering.drafted.Load(); drafted != nil {
		if i := slices.Index(drafted.objects, o); i >= 0 {
			return drafted.contents[i], nil
		}
	}
	if o.component.builder != nil {
		return nil, errors.New("object " + o.name + " of component " + o.component.name + ": it isn't rendered yet")
	}
	return s.renderObject(ctx, o)
}

// waitsFor reports whether c waits for other, directly or not.
func (c *Component) waitsFor(other *Component) bool {
	return slices.ContainsFunc(c.upstreams, func(up *upstream) bool {
		return up.component == other || up.component.waitsFor(other)
	})
}

// holder returns the object that is rendered with the identity id, nil if there is none.
func (l *objectIndex) holder(id identity) *Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holders[id]
}

// earlyReads are objects that Input read from the cluster, although the session may write them later. The zero value is
// empty.
type earlyReads struct {
	mu  sync.Mutex
	ids map[identity]bool
}

func (e *earlyReads) add(id identity) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ids == nil {
		e.ids = map[identity]bool{}
	}
	e.ids[id] = true
}

func (e *earlyReads) all() map[identity]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.ids)
}
