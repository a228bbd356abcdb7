package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/patching"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rendering renders a component once. The result is published when the rendering is finished; an error is returned to
// every caller.
type rendering struct {
	// turn holds a value while a goroutine renders.
	turn     chan struct{}
	finished atomic.Pointer[finishedRendering]
	// drafted is the result before the functions of ReviseObjects, see Component.Input.
	drafted atomic.Pointer[finishedRendering]
}

// buildRun is a running Build, with the Build from which it was called.
type buildRun struct {
	component *Component
	asked     *buildRun
}

type buildingKey struct{}

// within reports whether ctx belongs to c's own Build, or to a Build called from it.
func (c *Component) within(ctx context.Context) bool {
	at, _ := ctx.Value(buildingKey{}).(*buildRun)
	for ; at != nil; at = at.asked {
		if at.component == c {
			return true
		}
	}
	return false
}

// finishedRendering holds the objects of a component in the order of their deployment, as they were added and as they
// are deployed.
type finishedRendering struct {
	objects  []*Object
	contents []*unstructured.Unstructured
	kinds    []schema.GroupVersionKind
	// deferred: some contents are stand-ins.
	deferred bool
	err      error
}

// render returns the objects of c as they are deployed.
func (s *Session) render(ctx context.Context, c *Component) (*finishedRendering, error) {
	if finished := c.rendering.finished.Load(); finished != nil {
		return finished, finished.err
	}
	if c.within(ctx) {
		return nil, mistake(fmt.Errorf("component %s: its objects are used while Build runs: "+
			"use them in Deploy or Verify", c.name))
	}
	select {
	case c.rendering.turn <- struct{}{}:
		defer func() { <-c.rendering.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	finished := c.rendering.finished.Load()
	if finished == nil {
		var err error
		if finished, err = s.rendered(ctx, c); err != nil {
			finished = &finishedRendering{err: err}
		}
		c.rendering.finished.Store(finished)
	}
	return finished, finished.err
}

// rendered builds, orders, patches, annotates and revises the objects of c, in this order. Functions of ReviseObjects
// are called last.
func (s *Session) rendered(ctx context.Context, c *Component) (*finishedRendering, error) {
	if c.builder != nil {
		asked, _ := ctx.Value(buildingKey{}).(*buildRun)
		ctx := context.WithValue(ctx, buildingKey{}, &buildRun{c, asked})
		if err := failure.Guard(func() error { return c.builder.Build(ctx, s, c) }); err != nil {
			return nil, attributed("build", err)
		}
		if err := errors.Join(append(c.mistakes, s.takeMistakes()...)...); err != nil {
			return nil, mistake(err)
		}
	}
	ordered, err := render.Order(c.objects, func(o *Object) []*Object { return o.after }, (*Object).Name)
	if err != nil {
		return nil, mistake(err)
	}
	finished := &finishedRendering{objects: ordered, contents: make([]*unstructured.Unstructured, len(ordered))}
	var errs []error
	for i, o := range ordered {
		content, err := s.renderObject(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("object %s: %w", o.name, err)
		}
		ref := o.ref
		if content != o.content {
			ref = deploy.RefOf(content)
		}
		if err := s.register(o, ref); err != nil {
			errs = append(errs, err)
		}
		finished.contents[i], finished.kinds = content, withKinds(finished.kinds, ref.Kind)
		finished.deferred = finished.deferred || o.deferred != nil
	}
	if err := errors.Join(errs...); err != nil {
		return nil, mistake(err)
	}
	c.rendering.drafted.Store(finished)
	if finished, err = s.revise(ctx, c, finished); err != nil {
		return nil, err
	}
	if s.dryRun || len(s.reconciler.options.observers) > 0 {
		return finished, finished.fetch(ctx)
	}
	return finished, nil
}

// renderObject returns an object as it is deployed. It doesn't change the object that was added.
func (s *Session) renderObject(ctx context.Context, o *Object) (*unstructured.Unstructured, error) {
	if o.finished {
		return o.content, nil
	}
	content := o.content.Object
	patches := s.patches
	if o.component.disabled {
		patches = nil // deleted objects need no patches, and a patch that doesn't fit must not prevent the deletion
	}
	content, err := patching.Apply(ctx, patches, o.component.name, o.name, content)
	if err != nil {
		return nil, err
	}
	obj := o.content
	if content = s.annotated(content, o); !same(content, obj.Object) {
		obj = &unstructured.Unstructured{Object: content}
	}
	reviser, ok := o.component.builder.(Reviser)
	if !ok {
		return obj, nil
	}
	obj = obj.DeepCopy()
	if err := failure.Guard(func() error { return reviser.Revise(ctx, s, o.name, obj) }); err != nil {
		return nil, fmt.Errorf("revise: %w", err)
	}
	return obj, nil
}

// annotated returns content with the annotations for the internal name and the strategy. The result shares everything
// else with content.
func (s *Session) annotated(content map[string]any, o *Object) map[string]any {
	if !s.reconciler.options.nameObjects && o.strategy == "" {
		return content
	}
	domain := s.manager.KeyDomain()
	marks := map[string]any{}
	if s.reconciler.options.nameObjects {
		marks[domain+"/internal-name"] = o.component.name + "." + o.name
	}
	if o.strategy != "" {
		marks[domain+"/strategy"] = string(o.strategy)
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, isMap := metadata["annotations"].(map[string]any)
	if metadata == nil || metadata["annotations"] != nil && !isMap {
		return content // an invalid object is refused when it is deployed
	}
	content, metadata, annotations = maps.Clone(content), maps.Clone(metadata), maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	maps.Copy(annotations, marks)
	metadata["annotations"], content["metadata"] = annotations, metadata
	return content
}

// same reports whether a and b are the same map.
func same(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// Deferred is an object whose content is made only when it is needed. Content isn't called as long as Digest equals the
// digest that the object had when it was last applied, or when it was last compared with the cluster and found
// unchanged. A deferred object is always Finished. Component.Objects returns only its kind, name and namespace, except
// in a dry run and with ObserveComponents. CustomResourceDefinitions can't be deferred.
type Deferred struct {
	// Ref is the kind, namespace and name of the content. For a namespaced object an empty namespace means the
	// namespace of the resource.
	Ref deploy.Ref
	// Digest identifies the content: two contents of one object are equal if and only if their digests are.
	Digest string
	// Content returns the object, which the Reconciler doesn't change. A panic counts as an error.
	Content func(ctx context.Context) (*unstructured.Unstructured, error)
}

// digestKey is the field of a stand-in that holds the digest.
const digestKey = "digest"

// definitionKind is the kind of CustomResourceDefinitions.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// standIn returns the placeholder for a deferred object until its content is needed, see deploy.Contents.
func (d Deferred) standIn() (*unstructured.Unstructured, error) {
	switch {
	case d.Ref.Kind.Kind == "" || d.Ref.Kind.Version == "" || d.Ref.Name == "" || d.Digest == "" || d.Content == nil:
		return nil, errors.New("a deferred object needs a kind, a name, a digest and a content")
	case d.Ref.Kind.GroupKind() == definitionKind:
		return nil, fmt.Errorf("the definition %s can't be deferred: add its content", d.Ref.Name)
	}
	metadata := map[string]any{"name": d.Ref.Name}
	if d.Ref.Namespace != "" {
		metadata["namespace"] = d.Ref.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": d.Ref.Kind.GroupVersion().String(), "kind": d.Ref.Kind.Kind, "metadata": metadata, digestKey: d.Digest,
	}}, nil
}

// fetch replaces all stand-ins by their contents.
func (f *finishedRendering) fetch(ctx context.Context) error {
	for i, o := range f.objects {
		if o.deferred == nil {
			continue
		}
		content, err := o.fetched(ctx)
		if err != nil {
			return fmt.Errorf("object %s: %w", o.name, err)
		}
		f.contents[i] = content
	}
	f.deferred = false
	return nil
}

// content returns the content of a stand-in, and any other object as it is.
func (f *finishedRendering) content(ctx context.Context, of *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for i, o := range f.objects {
		if f.contents[i] == of && o.deferred != nil {
			return o.fetched(ctx)
		}
	}
	return of, nil
}

// fetched calls Content of a deferred object.
func (o *Object) fetched(ctx context.Context) (*unstructured.Unstructured, error) {
	content, err := failure.Value(func() (*unstructured.Unstructured, error) { return o.deferred(ctx) })
	switch {
	case err != nil:
		return nil, err
	case content == nil || content.Object == nil:
		return nil, mistake(errors.New("its deferred content is nil"))
	}
	if found := deploy.RefOf(content); found != o.ref {
		return nil, mistake(fmt.Errorf("its deferred content is another object, %s", found))
	}
	return content, nil
}
