package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestEventsOfChildren(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		change func(w *world, a, b, c *unstructured.Unstructured)
		want   []string
	}{
		{"watch 23, mistake 22: a child's change is its owner's, whatever the version of the reference",
			func(w *world, _, _, c *unstructured.Unstructured) { w.merge(c, `{"data":{"k":"v"}}`) }, []string{"Widget shop/a"}},
		{"watch 23: its status too", func(w *world, _, _, c *unstructured.Unstructured) { w.mergeStatus(c, `{"status":{"ready":true}}`) }, []string{"Widget shop/a"}},
		{"watch 23: its end too", func(w *world, _, _, c *unstructured.Unstructured) { w.delete(c) }, []string{"Widget shop/a"}},
		{"watch 23: a new one too", func(w *world, _, b, _ *unstructured.Unstructured) { w.create(child("d", b)) }, []string{"Widget shop/b"}},
		{"watch 23: of several owners each", func(w *world, a, b, _ *unstructured.Unstructured) { w.create(child("d", a, b)) }, []string{"Widget shop/a", "Widget shop/b"}},
		{"an owner that loses it is told, and the one that gets it", func(w *world, _, b, c *unstructured.Unstructured) {
			w.merge(c, `{"metadata":{"ownerReferences":[{"apiVersion":"example.dev/v1","kind":"Widget","name":"b","uid":"`+string(b.GetUID())+`"}]}}`)
		}, []string{"Widget shop/a", "Widget shop/b"}},
		{"one without owner is nobody's", func(w *world, _, _, _ *unstructured.Unstructured) { w.create(child("d")) }, nil},
		{"one of another kind of owner is nobody's", func(w *world, _, _, _ *unstructured.Unstructured) {
			w.create(child("d", w.create(object(regions, "", "a"))))
		}, nil},
		{"one of an owner of that kind in another group is nobody's", func(w *world, a, _, _ *unstructured.Unstructured) {
			other := a.DeepCopy()
			other.SetAPIVersion("example.org/v1")
			w.create(child("d", other))
		}, nil},
	} {
		inBubble(t, row.reason, func(w *world) {
			a, b := w.create(widget("a")), w.create(widget("b"))
			c := w.create(child("c", a))
			engine := w.start()
			require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
			assert.Equal(w.t, []string{"Widget shop/a", "Widget shop/a", "Widget shop/b"}, w.settle(), "watch mistake 23: those that exist are events too")
			row.change(w, a, b, c)
			assert.Equal(w.t, row.want, w.settle())
		})
	}
}

func TestClusterScopedOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 22: owners without a namespace have children in all", func(w *world) {
		engine := w.engine()
		require.NoError(w.t, engine.Control(regions, w.reconciler))
		w.run(engine)
		synctest.Wait()
		require.NoError(w.t, engine.Own(w.t.Context(), regions, configMaps))
		north := w.create(object(regions, "", "north"))
		w.settle()
		c := w.create(child("c", north))
		assert.Equal(w.t, []string{"Region north"}, w.settle())
		w.merge(c, `{"data":{"k":"v"}}`)
		assert.Equal(w.t, []string{"Region north"}, w.settle())
	})
}

func TestChildrenOfAnEarlierOwner(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		change func(w *world, theirs *unstructured.Unstructured)
		want   []string
	}{
		{"the end of one frees a name that its successor may need", func(w *world, theirs *unstructured.Unstructured) { w.delete(theirs) }, []string{"Widget shop/a"}},
		{"any other change is nobody's", func(w *world, theirs *unstructured.Unstructured) { w.merge(theirs, `{"data":{"k":"v"}}`) }, nil},
	} {
		inBubble(t, row.reason, func(w *world) {
			engine := w.start()
			require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
			predecessor := widget("a")
			predecessor.SetUID("predecessor")
			theirs := w.create(child("c", predecessor))
			w.create(widget("a"))
			w.create(widget("b"))
			w.settle()
			row.change(w, theirs)
			assert.Equal(w.t, row.want, w.settle())
		})
	}
	inBubble(t, "with neither there is nobody to tell", func(w *world) {
		engine := w.start()
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		predecessor := widget("a")
		predecessor.SetUID("predecessor")
		w.delete(w.create(child("c", predecessor)))
		assert.Empty(w.t, w.settle())
	})
}

func TestResync(t *testing.T) {
	t.Parallel()
	inBubble(t, "an event that says nothing new is none", func(w *world) {
		engine := w.start()
		a := w.create(widget("a"))
		w.settle()
		c := child("c", a)
		c.SetResourceVersion("7")
		engine.childHandler(widgets, nil, configMaps)(deploy.Event{Type: deploy.Modified, Old: c, New: c})
		assert.Empty(w.t, w.settle())
	})
}

func TestOwn(t *testing.T) {
	t.Parallel()
	unknown := &deploy.KindUnknownError{Kind: configMaps}
	inBubble(t, "before Run it is refused", func(w *world) {
		assert.EqualError(w.t, w.engine().Own(w.t.Context(), widgets, configMaps), "watch ConfigMap: the engine doesn't run yet")
	})
	inBubble(t, "after Run too", func(w *world) {
		engine := w.start()
		require.NoError(w.t, w.stop())
		assert.EqualError(w.t, engine.Own(w.t.Context(), widgets, configMaps), "watch ConfigMap: the engine has stopped")
	})
	inBubble(t, "watch 22: twice is once", func(w *world) {
		engine := w.start()
		for range 3 {
			require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		}
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, secrets))
		require.NoError(w.t, engine.Own(w.t.Context(), regions, configMaps), "another owner is another one")
		assert.Equal(w.t, []string{"Widget", "ConfigMap", "Secret", "ConfigMap"}, w.subscriptions())
	})
	inBubble(t, "a kind that can't be watched is said to be, and tried again when asked", func(w *world) {
		engine := w.start()
		w.unable(configMaps, unknown, nil)
		err := engine.Own(w.t.Context(), widgets, configMaps)
		var kind *deploy.KindUnknownError
		require.ErrorAs(w.t, err, &kind)
		assert.EqualError(w.t, err, "watch ConfigMap: "+unknown.Error())
		w.unable(configMaps, nil, nil)
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		a := w.create(widget("a"))
		w.create(child("c", a))
		assert.Contains(w.t, w.settle(), "Widget shop/a")
	})
	inBubble(t, "a kind that can't be read keeps its subscription", func(w *world) {
		engine := w.start()
		forbidden := &deploy.ForbiddenError{Verb: "list and watch", Resource: schema.GroupResource{Resource: "configmaps"}, Err: errors.New("no")}
		w.unable(configMaps, nil, forbidden)
		for range 2 {
			err := engine.Own(w.t.Context(), widgets, configMaps)
			assert.Equal(w.t, forbidden, err)
		}
		w.unable(configMaps, nil, nil)
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		assert.Equal(w.t, []string{"Widget", "ConfigMap"}, w.subscriptions())
	})
	inBubble(t, "a cluster that doesn't answer holds nobody longer than he may wait", func(w *world) {
		engine := w.start()
		w.asking = func(ctx context.Context, _ schema.GroupVersionKind) { <-ctx.Done() }
		ended := make(chan time.Duration, 2)
		for _, patience := range []time.Duration{10 * time.Second, time.Second} {
			go func() {
				began := time.Now()
				ctx, cancel := context.WithTimeout(w.t.Context(), patience)
				defer cancel()
				err := engine.Own(ctx, widgets, configMaps)
				assert.ErrorIs(w.t, err, context.DeadlineExceeded)
				ended <- time.Since(began)
			}()
			synctest.Wait()
		}
		assert.Equal(w.t, time.Second, <-ended, "not the first one's time, who asks the cluster")
		assert.Equal(w.t, 10*time.Second, <-ended)
		w.asking = nil
		assert.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps), "and it spoils nothing")
	})
	inBubble(t, "kinds are still found while the engine waits for what runs", func(w *world) {
		engine := w.engine()
		own := make(chan error, 1)
		w.do = func(ctx context.Context, _ request.Request) (result request.Result, err error) {
			time.Sleep(5 * time.Second)
			own <- engine.Own(ctx, widgets, configMaps)
			return result, nil
		}
		w.create(widget("a"))
		w.run(engine)
		synctest.Wait()
		began := time.Now()
		require.NoError(w.t, w.stop())
		assert.Equal(w.t, 5*time.Second, time.Since(began))
		assert.NoError(w.t, <-own, "spec watch mistake 6, 7: what runs gets its time, and what it needs")
	})
}

func regionKey(name string) deploy.Ref { return deploy.Ref{Kind: regions, Name: name} }
