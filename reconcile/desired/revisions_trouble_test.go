package desired_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type (
	funcs   = desired.Funcs[desired.Unstructured]
	ask     = desired.Request[desired.Unstructured]
	reply   = desired.Response
	harness = *reconciletest.Harness
	object  = unstructured.Unstructured
)

// TestRevisionsInTrouble looks at what becomes of rolls by revisions when something else happens meanwhile.
func TestRevisionsInTrouble(t *testing.T) {
	roll, by, fed, f := desired.Child(pods, desired.RollingRecreate), desired.Revisions("spec.template"), desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue)), fleet{}
	var c watch.Controller
	begin := func(t *testing.T, s funcs, opts ...desired.Option) harness {
		c = desired.New(catSets, s, opts...)
		h := reconciletest.Drive(t, watch.NewController(catSets, func(ctx context.Context, e watch.Env) (watch.Reconciler, error) { return c.Reconciler(ctx, e) }))
		h.Apply(fleetOf("1", "x"))
		h.RunUntilSettled()
		return h
	}
	wait := func(h harness) { h.Hold("Pod a"); setImage(h, "2"); h.RunUntilSettled() } // now 211, and b and c wait for a
	restart := func(h harness, opts ...desired.Option) {
		c = desired.New(catSets, funcs{OnSync: f.Sync}, opts...)
		h.Restart()
	}
	rev := func(h harness, n int64) string {
		all := revisionsOf(h)
		return "ControllerRevision " + all[slices.IndexFunc(all, func(o *object) bool { return o.Object["revision"] == n })].GetName()
	}
	feed := func(h harness) {
		for _, n := range strings.Fields("a b c") {
			h.SetStatus("CatHouse "+n, map[string]any{"observedGeneration": h.Get("CatHouse " + n).GetGeneration(), "conditions": []any{map[string]any{"type": "Fed", "status": "True", "reason": "A"}}})
		}
	}
	houses := func(r ask) (a reply, err error) {
		for _, n := range strings.Fields("a b c") {
			one := labelled(house(n, 1))
			if v, ok, _ := unstructured.NestedFieldNoCopy(r.Parent.Object, "spec", "template", "size"); ok {
				one["spec"] = map[string]any{"size": v}
			}
			a.Children = append(a.Children, one)
		}
		return a, nil
	}
	still := func(t *testing.T, h harness) {
		h.RunUntilSettled()
		for _, w := range writes(h) {
			assert.False(t, strings.HasPrefix(w, "deleted Pod"), w)
		}
	}
	t.Run("desired 95: children that are as wanted move at once: the option was off for a while", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		restart(h, roll)
		setImage(h, "5")
		h.RunUntilSettled()
		restart(h, roll, by)
		still(t, h)
	})
	t.Run("desired 95: children that are as wanted move at once: a revision is seen late", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		h.Edit(rev(h, 1), func(o *object) { o.SetAnnotations(map[string]string{"operkit.dev/children": `{"Pod":["a","b","c"]}`}) })
		still(t, h)
	})
	t.Run("desired 92: an earlier revision has its own paths: wider ones now", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		restart(h, roll, desired.Revisions())
		still(t, h)
	})
	t.Run("desired 92: an earlier revision has its own paths: other ones now", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		restart(h, roll, desired.Revisions("spec.node"))
		still(t, h)
	})
	t.Run("desired 96: a roll goes on after fields that the cluster refuses were corrected", func(t *testing.T) {
		dir := t.TempDir()
		schema := strings.Replace(definitionOf("CatHouse"), "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}", "spec: {type: object, properties: {size: {type: integer}}}", 1)
		_ = os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(definitionOf("CatSet")+"\n---\n"+schema), 0o600)
		h := reconciletest.Drive(t, desired.New(catSets, funcs{OnSync: houses}, fed, by), reconciletest.Definitions(dir))
		p := fleetOf("", "")
		h.Apply(p)
		h.RunUntilSettled()
		feed(h)
		h.RunUntilSettled()
		for _, v := range []any{"bad", int64(3)} {
			h.Edit("CatSet tom", func(p *object) { _ = unstructured.SetNestedField(p.Object, v, "spec", "template", "size") })
			for range 6 {
				_, _ = h.Reconcile("CatSet tom")
				feed(h)
			}
		}
		assert.Equal(t, map[string]any{"size": int64(3)}, h.Get("CatHouse a").Object["spec"])
	})
	t.Run("desired 96: a child that fails holds up its own kind only", func(t *testing.T) {
		h := begin(t, funcs{OnSync: func(r ask) (reply, error) {
			a, err := f.Sync(r)
			if n, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "node"); n == "y" {
				a.Children = append(a.Children, configMap("theirs", "k=1"))
			}
			return a, err
		}}, roll, by, desired.Child(configMaps, desired.InPlace))
		h.Apply(configMap("theirs", "k=0"))
		setField(h, "y", "node")
		setImage(h, "2")
		for range 8 {
			h.RunUntilSettled()
			h.Advance(3e11)
		}
		assert.Contains(t, images(h), "2")
		assert.NotEqual(t, "False RolloutWaiting ", updated(h))
	})
	t.Run("desired 95: children of no revision stay until their turn: it was deleted", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		h.Delete(rev(h, 1))
		still(t, h)
	})
	t.Run("desired 95: children of no revision stay until their turn: it has lost its annotation", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		h.Edit(rev(h, 1), func(o *object) { o.SetAnnotations(nil) })
		still(t, h)
	})
	t.Run("desired 95: children of no revision stay until their turn: it has lost its owner", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		h.Edit(rev(h, 1), func(o *object) { o.SetOwnerReferences(nil) })
		still(t, h)
	})
	t.Run("desired 89: absent children are created as they were", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		h.Hold("Pod b", "Pod c")
		h.Delete("Pod b", "Pod c")
		setImage(h, "2")
		h.RunUntilSettled()
		assert.LessOrEqual(t, strings.Count(images(h), "2"), 1)
	})
	t.Run("desired 95: adopted children wait for their turn", func(t *testing.T) {
		few := true
		h := drive(t, funcs{OnSync: func(r ask) (reply, error) {
			a, err := houses(r)
			if few {
				a.Children = a.Children[:1]
			}
			return a, err
		}, OnAdopts: adopter{}.Adopts}, fed, by)
		p := fleetOf("1", "x")
		p.SetLabels(map[string]string{"adopts": "tom"})
		h.Apply(p, house("b", 0), house("c", 0))
		h.RunUntilSettled()
		feed(h)
		h.RunUntilSettled()
		few = false
		relabel(h, "CatHouse b", "tom")
		relabel(h, "CatHouse c", "tom")
		h.RunUntilSettled()
		assert.Equal(t, map[string]any{"size": int64(0)}, h.Get("CatHouse c").Object["spec"], "b isn't fed")
	})
	t.Run("desired 93: a parent is deleted without its earlier revisions", func(t *testing.T) {
		strict := false
		sync := func(r ask) (reply, error) {
			a, err := f.Sync(r)
			if a.Finalized = true; strict && a.Status.(map[string]any)["image"] == "1" {
				err = errors.New("image 1")
			}
			return a, err
		}
		h := begin(t, funcs{OnSync: sync, OnFinalize: sync}, roll, by)
		wait(h)
		strict = true
		h.Delete("CatSet tom")
		_, err := h.Reconcile("CatSet tom")
		assert.NoError(t, err)
		h.Gone("CatSet tom")
	})
	t.Run("desired 95: a child that is returned as it is keeps its revision", func(t *testing.T) {
		h := begin(t, funcs{OnSync: func(r ask) (reply, error) {
			a, err := f.Sync(r)
			if n, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "node"); n == "keep" {
				a.Children = nil
				for _, o := range r.Children.Of(pods) {
					a.Children = append(a.Children, o)
				}
			}
			return a, err
		}}, roll, by)
		setField(h, "keep", "node")
		h.RunUntilSettled()
		setImage(h, "2")
		h.RunUntilSettled()
		h.Hold("Pod a")
		setField(h, "x", "node")
		h.RunUntilSettled()
		assert.Equal(t, "211", images(h))
	})
	t.Run("desired 88: a child that is being deleted is named", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		wait(h)
		for _, n := range []string{"Pod b", "Pod c"} {
			h.Edit(n, func(o *object) { o.SetFinalizers([]string{"example.dev/x"}) })
			h.Delete(n)
		}
		h.Release()
		h.RunUntilSettled()
		assert.NotContains(t, updated(h), "Pod a")
	})
	t.Run("desired 88: without the option, the condition is removed", func(t *testing.T) {
		h := begin(t, funcs{OnSync: f.Sync}, roll, by)
		restart(h, roll)
		h.RunUntilSettled()
		assert.NotContains(t, updated(h), "True")
	})
	t.Run("desired 90: the related objects and the time of an earlier revision count", func(t *testing.T) {
		var about []string
		imageOf := func(p *object) string {
			image, _, _ := unstructured.NestedString(p.Object, "spec", "template", "image")
			return image
		}
		s := funcs{
			OnSync: func(r ask) (a reply, err error) {
				if a, err = f.Sync(r); imageOf(r.Parent) == "1" {
					a.ResyncAfter = time.Minute
				}
				return a, err
			},
			OnRelated: func(_ context.Context, p *object) ([]desired.Selection, error) {
				about = append(about, imageOf(p))
				return nil, nil
			},
		}
		h := begin(t, s, roll, by)
		wait(h)
		about = nil
		result, err := h.Reconcile("CatSet tom")
		assert.NoError(t, err)
		assert.Equal(t, []string{"2", "1"}, about)
		assert.Equal(t, time.Minute, result.RequeueAfter)
	})
	t.Run("desired 94: a kind doesn't wait for another one", func(t *testing.T) {
		both := func(r ask) (a reply, err error) {
			a, err = f.Sync(r)
			image, _, _ := unstructured.NestedString(r.Parent.Object, "spec", "template", "image")
			for _, name := range strings.Fields("a b c") {
				a.Children = append(a.Children, configMap(name, "image="+image))
			}
			return a, err
		}
		h := begin(t, funcs{OnSync: both}, roll, by, desired.Child(configMaps, desired.RollingInPlace))
		wait(h)
		assert.Equal(t, "211", images(h))
		for _, name := range strings.Fields("a b c") {
			assert.Equal(t, map[string]any{"image": "2"}, h.Get("ConfigMap " + name).Object["data"])
		}
	})
}
