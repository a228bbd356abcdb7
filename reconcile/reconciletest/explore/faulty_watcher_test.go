package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// watching are watchers with a client for what they tend.
type watching struct {
	*watcher.Watchers[unstructured.Unstructured]
	port deploy.Port
	// owns: the child belongs to the shop, also one that a former leader creates late.
	owns bool
}

// watchers returns watchers that call the functions that functions returns, also from time to time, because they don't
// see what happens to a child.
func watchers(sound bool, functions func(w *watching) watcher.Watcher[unstructured.Unstructured]) *watching {
	w := &watching{owns: sound}
	w.Watchers = watcher.New[unstructured.Unstructured](shopKind, watcher.Add("stock", functions(w)), watcher.Resync(10*time.Minute))
	return w
}

// Reconciler implements watch.Controller.
func (w *watching) Reconciler(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
	w.port = env.Manager.Port()
	return w.Watchers.Reconciler(ctx, env)
}

func stockOf(shop *unstructured.Unstructured) deploy.Ref {
	return deploy.Ref{Kind: kindOf("ConfigMap"), Namespace: shop.GetNamespace(), Name: "stock"}
}

// add creates what the shop has in stock. It fails if that exists.
func (w *watching) add(ctx context.Context, shop *unstructured.Unstructured) error {
	obj := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: stock, namespace: %s, labels: {size: '%d'}}}",
		shop.GetNamespace(), sizeOf(shop))}
	if w.owns {
		obj.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ownerOf(shop)}
	}
	_, err := w.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "watcher"})
	return err
}

// resize writes the size of the shop.
func (w *watching) resize(ctx context.Context, shop *unstructured.Unstructured) error {
	_, err := w.port.Patch(ctx, stockOf(shop), deploy.PatchRequest{
		Type: types.MergePatchType, Body: fmt.Appendf(nil, `{"metadata":{"labels":{"size":"%d"}}}`, sizeOf(shop)), FieldManager: "watcher",
	})
	return err
}

// ensure creates what the shop has in stock, or resizes it if the size differs.
func (w *watching) ensure(ctx context.Context, shop *unstructured.Unstructured) error {
	stock, err := w.port.Get(ctx, stockOf(shop))
	switch {
	case err != nil:
		return err
	case stock == nil:
		return w.add(ctx, shop)
	case sizeLabel(stock) != fmt.Sprint(sizeOf(shop)):
		return w.resize(ctx, shop)
	}
	return nil
}

// remove deletes what the shop has in stock.
func (w *watching) remove(ctx context.Context, shop *unstructured.Unstructured) error {
	err := w.port.Delete(ctx, stockOf(shop), deploy.DeleteOptions{})
	if gone := (*deploy.NotFoundError)(nil); errors.As(err, &gone) {
		return nil
	}
	return err
}

// update resizes what the shop has in stock.
func (w *watching) update(ctx context.Context, _, shop *unstructured.Unstructured) error {
	return w.ensure(ctx, shop)
}

// functions are what held watchers call. An update resizes the child.
func (w *watching) functions(add, sync func(ctx context.Context, shop *unstructured.Unstructured) error) watcher.Funcs[unstructured.Unstructured] {
	return watcher.Funcs[unstructured.Unstructured]{Add: add, Sync: sync, Update: w.update, Delete: w.remove}
}

// stockFinalizer holds the objects of the watchers.
const stockFinalizer = "explore.operkit.dev/stock"

// held are watchers that hold their objects by a finalizer from before the first call.
func (w *watching) held(add, sync func(ctx context.Context, shop *unstructured.Unstructured) error) watcher.Watcher[unstructured.Unstructured] {
	return watcher.Opinionate(w.functions(add, sync), watcher.Finalizer(stockFinalizer), watcher.InProgress())
}

// insisting creates its child whenever a process begins, and takes a child that exists for a failure:
// https://github.com/rook/rook/issues/9256
func insisting(sound bool) *watching {
	return watchers(sound, func(w *watching) watcher.Watcher[unstructured.Unstructured] {
		if sound {
			return w.held(w.ensure, w.ensure)
		}
		return w.held(w.add, w.add)
	})
}

// edgeTriggered trusts events: it changes the child only when it sees an update. If it is killed then, the next process
// finds that the child exists.
func edgeTriggered(sound bool) *watching {
	return watchers(sound, func(w *watching) watcher.Watcher[unstructured.Unstructured] {
		if sound {
			return w.held(w.ensure, w.ensure)
		}
		return w.held(w.ensure, func(ctx context.Context, shop *unstructured.Unstructured) error {
			if stock, err := w.port.Get(ctx, stockOf(shop)); err != nil || stock != nil {
				return err
			}
			return w.add(ctx, shop)
		})
	})
}

// unheld has no finalizer, so nothing is left to do for the next process if it is killed at a deletion.
func unheld(sound bool) *watching {
	return watchers(sound, func(w *watching) watcher.Watcher[unstructured.Unstructured] {
		if sound {
			return w.held(w.ensure, w.ensure)
		}
		return watcher.Simple(watcher.Funcs[unstructured.Unstructured]{Add: w.ensure, Update: w.update, Delete: w.remove})
	})
}

// heldLate holds its objects only when they have been added: what was added by a process that is killed before stays.
func heldLate(sound bool) *watching {
	return watchers(sound, func(w *watching) watcher.Watcher[unstructured.Unstructured] {
		if sound {
			return w.held(w.ensure, w.ensure)
		}
		return watcher.Opinionate(w.functions(w.ensure, w.ensure), watcher.Finalizer(stockFinalizer))
	})
}
