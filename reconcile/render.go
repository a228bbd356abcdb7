package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rendering is the work of rendering a component, done once: published only when it is finished, and with
// the same error for everybody who asks when it can't be (spec: reconcile 13, mistake 19).
type rendering struct {
	// turn holds a value while somebody renders.
	turn     chan struct{}
	finished atomic.Pointer[finishedRendering]
}

// buildRun is a component whose Build runs, and those that asked for it in their own Build.
type buildRun struct {
	component *Component
	asked     *buildRun
}

type buildingKey struct{}

// within tells whether ctx is that of c's own Build, or of one that this asked for.
func (c *Component) within(ctx context.Context) bool {
	at, _ := ctx.Value(buildingKey{}).(*buildRun)
	for ; at != nil; at = at.asked {
		if at.component == c {
			return true
		}
	}
	return false
}

// finishedRendering are the objects of a component in their order: as they were added, and as they are
// deployed.
type finishedRendering struct {
	objects  []*Object
	contents []*unstructured.Unstructured
	kinds    []schema.GroupVersionKind
	// deferred tells that some contents are stand-ins.
	deferred bool
	err      error
}

// render returns the objects of c as they are to be deployed.
func (s *Session) render(ctx context.Context, c *Component) (*finishedRendering, error) {
	if finished := c.rendering.finished.Load(); finished != nil {
		return finished, finished.err
	}
	if c.within(ctx) {
		return nil, &classified{class: classRollout, err: fmt.Errorf("component %s: its objects are asked for while they are built: "+
			"do in Deploy or Verify what needs them", c.name)}
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

// rendered builds, orders, patches, annotates and revises, in this order (spec: reconcile 13).
func (s *Session) rendered(ctx context.Context, c *Component) (*finishedRendering, error) {
	if c.builder != nil {
		asked, _ := ctx.Value(buildingKey{}).(*buildRun)
		ctx := context.WithValue(ctx, buildingKey{}, &buildRun{c, asked})
		if err := guarded(func() error { return c.builder.Build(ctx, s, c) }); err != nil {
			return nil, saidBy("build", err)
		}
		if err := errors.Join(append(c.mistakes, s.tooLate()...)...); err != nil {
			return nil, &classified{class: classRollout, err: err}
		}
	}
	ordered, err := inOrder(c.objects)
	if err != nil {
		return nil, &classified{class: classRollout, err: err}
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
		if err := s.claim(o, ref); err != nil {
			errs = append(errs, err)
		}
		finished.contents[i], finished.kinds = content, withKinds(finished.kinds, ref.Kind)
		finished.deferred = finished.deferred || o.deferred != nil
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &classified{class: classRollout, err: err}
	}
	if s.dryRun || s.watched {
		return finished, finished.fetch(ctx)
	}
	return finished, nil
}

// renderObject never changes what was added.
func (s *Session) renderObject(ctx context.Context, o *Object) (*unstructured.Unstructured, error) {
	if o.finished {
		return o.content, nil
	}
	content := o.content.Object
	patches := s.patches
	if o.component.disabled {
		patches = nil // what is taken away needs none, and one that doesn't fit must not keep it
	}
	for _, patch := range patches {
		var patched map[string]any
		var matched bool
		if err := guarded(func() (err error) {
			patched, matched, err = patch.Apply(ctx, o.component.name, o.name, content)
			return err
		}); err != nil {
			return nil, Configuration("patch %s: %w", patch.Name(), err)
		}
		if matched {
			content = patched
		}
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
	if err := guarded(func() error { return reviser.Revise(ctx, s, o.name, obj) }); err != nil {
		return nil, fmt.Errorf("revise: %w", err)
	}
	return obj, nil
}

// annotated puts the internal name, and the strategy if one is set, onto a copy that shares all else.
func (s *Session) annotated(content map[string]any, o *Object) map[string]any {
	if !s.nameObjects && o.strategy == "" {
		return content
	}
	domain := s.manager.KeyDomain()
	marks := map[string]any{}
	if s.nameObjects {
		marks[domain+"/internal-name"] = o.component.name + "." + o.name
	}
	if o.strategy != "" {
		marks[domain+"/strategy"] = string(o.strategy)
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, isMap := metadata["annotations"].(map[string]any)
	if metadata == nil || metadata["annotations"] != nil && !isMap {
		return content // what is no object is refused when it is deployed
	}
	content, metadata, annotations = maps.Clone(content), maps.Clone(metadata), maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	maps.Copy(annotations, marks)
	metadata["annotations"], content["metadata"] = annotations, metadata
	return content
}

// same tells whether two are one map.
func same(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// Patch changes objects before they are deployed, see WithPatches.
type Patch interface {
	// Name is what errors call it.
	Name() string
	// Apply returns content with the patch, if that is meant for the object of that name in that component.
	// content isn't changed; the result may share with it.
	Apply(ctx context.Context, component, object string, content map[string]any) (patched map[string]any, matched bool, err error)
}

// Patcher knows which patches a resource has.
type Patcher interface {
	// Patches returns the patches of a resource in the order in which they are applied. It is asked with every
	// reconcile, before Setup.
	Patches(ctx context.Context, target Target) ([]Patch, error)
}

// Target is a resource whose objects are about to be rendered.
type Target struct {
	// Resource is shared: it must not be changed.
	Resource *unstructured.Unstructured
	// View shows the cluster that the resource is in.
	View deploy.View
	// DryRun tells that nothing is deployed for real, and nothing must be written.
	DryRun bool
}
