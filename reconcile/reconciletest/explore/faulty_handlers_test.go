package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// duplicating creates an object of which nothing is known until the handler has ended. After a crash the handler is
// called again, and creates another one: https://github.com/Kong/kong-operator/issues/4649
func duplicating(sound bool) *handlers.Handlers[unstructured.Unstructured] {
	h := handlers.New[unstructured.Unstructured](shopKind)
	if sound {
		applying(h, func(*unstructured.Unstructured) map[string]any {
			return object("{apiVersion: v1, kind: ConfigMap, metadata: {name: till}}")
		})
		return h
	}
	h.On(handlers.Create, "till", func(ctx context.Context, r *handlers.Request[unstructured.Unstructured]) error {
		m, err := r.Manager()
		if err != nil {
			return err
		}
		till := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: till-, namespace: %s}}", r.Ref.Namespace)}
		till.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ownerOf(r.Object)}
		_, err = m.Port().Create(ctx, till, deploy.CreateOptions{FieldManager: "handlers"})
		return err
	})
	return h
}

// applying adds handlers that apply a child, also from time to time, because handlers don't see what happens to it.
func applying(h *handlers.Handlers[unstructured.Unstructured], child func(shop *unstructured.Unstructured) map[string]any) {
	apply := func(ctx context.Context, r *handlers.Request[unstructured.Unstructured]) error {
		return r.Apply(ctx, child(r.Object))
	}
	h.On(handlers.Create|handlers.Update, "apply", apply)
	h.Timer("repair", 10*time.Minute, apply)
}

// merging applies its child by a merge patch, in which a field that is left out means no change:
// https://github.com/StarRocks/starrocks-kubernetes-operator/issues/581
func merging(sound bool) *handlers.Handlers[unstructured.Unstructured] {
	h := handlers.New[unstructured.Unstructured](shopKind)
	door := func(shop *unstructured.Unstructured) map[string]any {
		door := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: door}}")
		if title, has, _ := unstructured.NestedString(shop.Object, "spec", "title"); has {
			door["data"] = map[string]any{"title": title}
		}
		return door
	}
	if sound {
		applying(h, door)
		return h
	}
	merge := func(ctx context.Context, r *handlers.Request[unstructured.Unstructured]) error {
		m, err := r.Manager()
		if err != nil {
			return err
		}
		ref := deploy.Ref{Kind: kindOf("ConfigMap"), Namespace: r.Ref.Namespace, Name: "door"}
		live, err := m.Port().Get(ctx, ref)
		if err != nil {
			return err
		}
		if live == nil {
			return r.Apply(ctx, door(r.Object))
		}
		title, has, _ := unstructured.NestedString(r.Object.Object, "spec", "title")
		if !has || title == dataOf(live, "title") {
			return nil
		}
		_, err = m.Port().Patch(ctx, ref, deploy.PatchRequest{
			Type: types.MergePatchType, Body: fmt.Appendf(nil, `{"data":{"title":%q}}`, title), FieldManager: "handlers",
		})
		return err
	}
	h.On(handlers.Create|handlers.Update, "merge", merge)
	h.Timer("repair", 10*time.Minute, merge)
	return h
}

// greedy deletes by name what it finds at the end, also if it isn't its own:
// https://github.com/apecloud/kubeblocks/issues/9860
func greedy(sound bool) *handlers.Handlers[unstructured.Unstructured] {
	h := handlers.New[unstructured.Unstructured](shopKind)
	h.On(handlers.Delete, "street", func(ctx context.Context, r *handlers.Request[unstructured.Unstructured]) error {
		m, err := r.Manager()
		if err != nil {
			return err
		}
		street, err := m.Port().Get(ctx, deploy.Ref{Kind: kindOf("ConfigMap"), Namespace: r.Ref.Namespace, Name: "street"})
		if err != nil || street == nil || sound && len(street.GetOwnerReferences()) == 0 {
			return err
		}
		return m.Port().Delete(ctx, deploy.RefOf(street), deploy.DeleteOptions{UID: street.GetUID()})
	})
	return h
}
