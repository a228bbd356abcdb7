package versions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// component is a component whose objects a version has rendered, or renders when its turn has come.
type component struct {
	session *session
	told    *wire.Component
	kinds   []wire.Kind
}

// Build implements reconcile.Builder.
func (b *component) Build(ctx context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	if b.told.Problem != nil {
		return reconcile.Verbatim(b.told.Problem.Err())
	}
	objects, kinds := b.told.Objects, b.kinds
	if b.told.Built {
		var rendered wire.Objects
		if err := b.session.call(ctx, wire.Render, b.session.part(b.told.Name), &rendered); err != nil {
			return reconcile.Verbatim(err)
		}
		objects, kinds = rendered.Objects, rendered.Kinds
	}
	gvks := make([]schema.GroupVersionKind, len(kinds))
	for i, kind := range kinds {
		gvks[i] = kind.GVK()
	}
	for i := range objects {
		if err := b.add(c, &objects[i], gvks); err != nil {
			return err
		}
	}
	return nil
}

func (b *component) add(c *reconcile.Component, told *wire.Object, kinds []schema.GroupVersionKind) error {
	var options []reconcile.ObjectOption
	if told.Judged {
		options = append(options, reconcile.ReadyWhen(b.judge(told.Name)))
	}
	if told.Content != nil {
		c.Add(told.Name, &unstructured.Unstructured{Object: told.Content}, append(options, reconcile.Finished())...)
		return nil
	}
	if told.Kind < 0 || told.Kind >= len(kinds) {
		return fmt.Errorf("version %s: object %s: has no kind", b.session.life.version.name, told.Name)
	}
	c.Add(told.Name, reconcile.Deferred{
		Ref:     deploy.Ref{Kind: kinds[told.Kind], Namespace: told.Namespace, Name: told.Ref},
		Digest:  b.session.instance + strconv.FormatUint(told.Digest, 36),
		Content: b.content(told.Name),
	}, options...)
	return nil
}

// part names an object.
func (b *component) part(object string) wire.Part {
	part := b.session.part(b.told.Name)
	part.Object = object
	return part
}

// judge has the version say whether an object is ready.
func (b *component) judge(object string) reconcile.Judge {
	return func(ctx context.Context, live *unstructured.Unstructured) error {
		part := b.part(object)
		part.Live = live.Object
		return b.session.call(ctx, wire.Judge, part, nil)
	}
}

// content has the version say what an object is.
func (b *component) content(object string) func(context.Context) (*unstructured.Unstructured, error) {
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		var content map[string]any
		err := b.session.call(ctx, wire.Content, b.part(object), &content)
		return &unstructured.Unstructured{Object: content}, err
	}
}
