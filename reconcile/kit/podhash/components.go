package podhash

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Components adds the hash to all Pod templates of all components of a controller, except to objects that are Finished.
//
// What the session itself deploys counts as it will be deployed, if the component with the Pods waits for the component
// with the Secret, or if the latter has no Builder. So let a component wait (Component.After) for a Builder whose
// Secrets it reads: otherwise its Pods may be made before the Secret, and again after it. A reference that can't be
// read fails the component. If the Pods require an object that isn't there, the log has a warning with its name.
func Components(options ...Option) reconcile.Option {
	given := New(options...)
	return reconcile.ReviseObjects(func(ctx context.Context, c *reconcile.Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		s, h := c.Session(), *given
		if h.domain == "" {
			h.domain = s.Manager().KeyDomain()
		}
		revised, missing, err := h.Annotate(ctx, obj, s.Namespace(), reading(c, h.oper8))
		for _, ref := range missing {
			s.Logger().Warn("Pods require an object that doesn't exist", "component", c.Name(), "object", deploy.RefOf(obj).String(), "requires", ref.String())
		}
		return revised, err
	})
}

// reading returns what reads the objects to which those of a component refer. asOper8: oper8 reads the objects of other
// components from the cluster, where what was in stringData is in data.
func reading(c *reconcile.Component, asOper8 bool) Read {
	return func(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
		if podtemplate.Once(ref.Kind.GroupKind()) {
			return c.Session().Get(ctx, ref)
		}
		found, err := c.Input(ctx, ref)
		if asOper8 && found != nil && !has(c, ref) {
			found = stored(found)
		}
		return found, err
	}
}

// has reports whether ref is an object of the component itself.
func has(c *reconcile.Component, ref deploy.Ref) bool {
	return slices.ContainsFunc(c.Objects(), func(obj *unstructured.Unstructured) bool {
		return obj.GroupVersionKind() == ref.Kind && obj.GetName() == ref.Name
	})
}

// stored returns a Secret with stringData as the cluster stores it, and any other object as it is.
func stored(obj *unstructured.Unstructured) *unstructured.Unstructured {
	texts := asMap(obj.Object["stringData"])
	if obj.GetKind() != Secret || len(texts) == 0 {
		return obj
	}
	content, data := maps.Clone(obj.Object), maps.Clone(asMap(obj.Object["data"]))
	if data == nil {
		data = map[string]any{}
	}
	for key, text := range texts {
		data[key] = base64.StdEncoding.EncodeToString(bytesOf(text, false))
	}
	content["data"] = data
	return &unstructured.Unstructured{Object: content}
}
