package trigger

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	widgets    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	regions    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func object(kind schema.GroupVersionKind, namespace, name, uid string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	obj.SetUID(types.UID(uid))
	return obj
}

// referring is a ConfigMap that refers to its owner, as of another version of its kind.
func referring(owner *unstructured.Unstructured) *unstructured.Unstructured {
	obj := object(configMaps, "shop", "c", "c")
	obj.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GroupVersionKind().Group + "/v1beta1", Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
	}})
	return obj
}

// whole is obj with content.
func whole(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.Object["data"] = map[string]any{"color": "red"}
	return obj
}

// leased is obj as a replica has taken it.
func leased(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetAnnotations(map[string]string{"operkit.dev/lease-name": "replica-1", "operkit.dev/lease-time": "2026-01-01T00:00:00Z"})
	return obj
}

// labelled is a ConfigMap elsewhere that has labels.
func labelled(labels map[string]string) *unstructured.Unstructured {
	obj := object(configMaps, "bank", "c", "c")
	obj.SetLabels(labels)
	return obj
}

// left is the event of an object that isn't watched any more.
func left(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Left, Old: obj, New: obj}
}

func added(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Added, New: obj}
}

func deleted(obj *unstructured.Unstructured) deploy.Event {
	return deploy.Event{Type: deploy.Deleted, Old: obj, New: obj}
}

// modified is an update that the cluster has counted.
func modified(before, after *unstructured.Unstructured) deploy.Event {
	after = after.DeepCopy()
	after.SetResourceVersion(before.GetResourceVersion() + "1")
	return deploy.Event{Type: deploy.Modified, Old: before, New: after}
}

func keys(found []deploy.Ref) string {
	var names []string
	for _, key := range found {
		names = append(names, key.String())
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

func TestOwnersOf(t *testing.T) {
	t.Parallel()
	o := NewOwners()
	a, b := object(widgets, "shop", "a", "uid-a"), object(widgets, "shop", "b", "uid-b")
	north := object(regions, "", "north", "uid-north")
	for _, obj := range []*unstructured.Unstructured{a, b, north} {
		o.Observe(obj.GroupVersionKind(), added(obj))
	}
	both := referring(a)
	both.SetOwnerReferences(append(both.GetOwnerReferences(), referring(b).GetOwnerReferences()...))
	former := object(widgets, "shop", "a", "uid-before")
	strange := referring(a)
	strange.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "a/b/c", Kind: "Widget", Name: "a", UID: "uid-a"}})
	for _, row := range []struct {
		reason string
		kind   schema.GroupVersionKind
		event  deploy.Event
		want   string
	}{
		{"watch 23: by its reference, whatever its version", widgets, added(referring(a)), "Widget shop/a"},
		{"watch 23: of several owners each", widgets, added(both), "Widget shop/a, Widget shop/b"},
		{"an owner of another kind isn't meant", regions, added(referring(a)), ""},
		{"watch 23: who had it and who has it", widgets, modified(referring(a), referring(b)), "Widget shop/a, Widget shop/b"},
		{"watch 35: a child that a replica has taken, or released", widgets, modified(whole(referring(a)), leased(whole(referring(a)))), ""},
		{"watch 35: and that has changed too", widgets, modified(whole(referring(a)), leased(whole(referring(b)))), "Widget shop/a, Widget shop/b"},
		{"watch 35: one that shows nothing but metadata may have", widgets, modified(referring(a), leased(referring(a))), "Widget shop/a"},
		{"an update without a change", widgets, deploy.Event{Type: deploy.Modified, Old: referring(a), New: referring(a)}, ""},
		{"an owner that isn't known", widgets, added(referring(former)), ""},
		{"the end of a former owner's frees a name", widgets, deleted(referring(former)), "Widget shop/a"},
		{"also for owners without a namespace", regions, deleted(referring(object(regions, "", "north", "before"))), "Region north"},
		{"watch mistake 22: an owner without a namespace", regions, added(referring(north)), "Region north"},
		{"a reference that says nothing is nobody's", widgets, added(strange), ""},
		{"by the label, from another namespace", widgets, added(labelled(map[string]string{"operkit.dev/owner-uid": "uid-a", "app": "x"})), "Widget shop/a"},
		{"of whatever domain", widgets, added(labelled(map[string]string{"example.dev/owner-uid": "uid-b"})), "Widget shop/b"},
		{"of an owner without a namespace", regions, deleted(labelled(map[string]string{"operkit.dev/owner-uid": "uid-north"})), "Region north"},
		{"a label that was taken off", widgets, modified(labelled(map[string]string{"operkit.dev/owner-uid": "uid-a"}), labelled(nil)), "Widget shop/a"},
		{"a label of an owner of another kind", regions, added(labelled(map[string]string{"operkit.dev/owner-uid": "uid-a"})), ""},
		{"a label of an owner that isn't known", widgets, deleted(labelled(map[string]string{"operkit.dev/owner-uid": "uid-before"})), ""},
		{"another label with that value", widgets, added(labelled(map[string]string{"operkit.dev/owner": "uid-a", "owner-uid": "uid-a"})), ""},
		{"one that left the view concerns nobody", widgets, left(referring(a)), ""},
		{"nor does one with a label", widgets, left(labelled(map[string]string{"operkit.dev/owner-uid": "uid-a"})), ""},
		{"an object of nobody", widgets, added(labelled(nil)), ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, keys(o.Of(row.kind, row.event)))
		})
	}
}

func TestOwnersEnd(t *testing.T) {
	t.Parallel()
	o := NewOwners()
	first, second := object(regions, "", "north", "1"), object(regions, "", "north", "2")
	o.Observe(regions, added(first))
	o.Observe(regions, added(second))
	assert.Empty(t, keys(o.Of(regions, added(referring(first)))), "one whose end wasn't seen has ended when another has its name")
	o.Observe(regions, deleted(first))
	assert.Equal(t, "Region north", keys(o.Of(regions, added(referring(second)))), "a late end of the first doesn't end the second")
	assert.Equal(t, 1, o.Len())
	o.Observe(regions, deleted(second))
	assert.Empty(t, keys(o.Of(regions, deleted(referring(second)))))
	assert.Zero(t, o.Len())
	assert.Empty(t, o.uids)
	o.Observe(regions, added(first))
	assert.Equal(t, []deploy.Ref{{Kind: regions, Name: "north"}}, o.Keys(regions))
	assert.Empty(t, o.Keys(widgets))
	o.Observe(regions, left(first))
	assert.Empty(t, o.Keys(regions), "what left the view isn't known any more")
	assert.Empty(t, o.uids)
}

func TestObserve(t *testing.T) {
	t.Parallel()
	of := func(change func(obj *unstructured.Unstructured)) *unstructured.Unstructured {
		obj := object(widgets, "shop", "a", "a")
		obj.SetGeneration(1)
		if change != nil {
			change(obj)
		}
		return obj
	}
	set := func(generation int64) *unstructured.Unstructured {
		return of(func(obj *unstructured.Unstructured) { obj.SetGeneration(generation) })
	}
	plain := of(nil)
	ours := of(func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"ours"}) })
	for _, row := range []struct {
		reason          string
		event           deploy.Event
		reconcile, anew bool
	}{
		{"watch 29: it comes", added(plain), true, true},
		{"watch 29: it goes", deleted(plain), true, true},
		{"watch 29: a status, or what else leaves the generation", modified(plain, plain), false, false},
		{"watch 29: without a generation everything counts", modified(set(0), set(0)), true, false},
		{"watch 29: a new spec", modified(plain, set(2)), true, true},
		{"watch 18: the beginning of its end, whether or not it raises the generation", modified(plain, of(func(obj *unstructured.Unstructured) {
			obj.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
		})), true, false},
		{"watch 31: an annotation", modified(plain, of(func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{"a": "b"}) })), true, false},
		{"watch 29: a label", modified(plain, of(func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })), true, false},
		{"our own finalizer", modified(plain, ours), false, false},
		{"a finalizer that somebody takes off: it may have been ours", modified(ours, plain), true, false},
		{"another object of that name, whose beginning and end were not seen", modified(plain, of(func(obj *unstructured.Unstructured) { obj.SetUID("another") })), true, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			key, anew := NewOwners().Observe(widgets, row.event)
			assert.Equal(t, deploy.Ref{Kind: widgets, Namespace: "shop", Name: "a"}, key)
			reconcile, forced := rules(source.Sources{}).Counts(row.event)
			assert.Equal(t, row.reconcile, reconcile)
			assert.False(t, forced)
			if reconcile {
				assert.Equal(t, row.anew, anew)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason         string
		first, longest time.Duration
		failures       int
		want           time.Duration
	}{
		{"reconcile mistake 12: the first", FirstRetry, LongestRetry, 0, 250 * time.Millisecond},
		{"reconcile mistake 12: it doubles", FirstRetry, LongestRetry, 6, 16 * time.Second},
		{"reconcile mistake 12: up to its cap", FirstRetry, LongestRetry, 7, 30 * time.Second},
		{"a cap that is a power", time.Second, 4 * time.Second, 2, 4 * time.Second},
		{"no number of failures overflows", time.Hour, math.MaxInt64, 1 << 40, math.MaxInt64},
		{"nor one just below", time.Hour, math.MaxInt64, 22, math.MaxInt64},
	} {
		assert.Equal(t, row.want, Delay(row.first, row.longest, row.failures), row.reason)
	}
}

func TestFollowers(t *testing.T) {
	t.Parallel()
	var f Followers
	a, b := deploy.Ref{Kind: widgets, Namespace: "shop", Name: "a"}, deploy.Ref{Kind: widgets, Namespace: "shop", Name: "b"}
	one, two := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "one"}, deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "two"}
	following := func(ref deploy.Ref) string {
		return keys(f.Of(deploy.Event{Type: deploy.Added, New: object(ref.Kind, ref.Namespace, ref.Name, "c")}))
	}
	f.Begin(a)
	f.Add(a, one)
	f.Add(a, two)
	f.Add(b, two)
	f.End(a)
	assert.Equal(t, "Widget shop/a", following(one))
	assert.Equal(t, "Widget shop/a, Widget shop/b", following(two))
	f.Begin(a)
	f.Add(a, two)
	assert.Equal(t, "Widget shop/a", following(one), "one that fails before it could ask follows still")
	f.End(a)
	assert.Empty(t, following(one))
	assert.Equal(t, "Widget shop/a, Widget shop/b", following(two))
	f.Begin(a)
	f.End(a)
	assert.Equal(t, "Widget shop/b", following(two))
	assert.Equal(t, 1, f.Len())
	assert.Empty(t, f.Of(left(object(two.Kind, two.Namespace, two.Name, "c"))), "one that left the view is no news")
	f.Drop(b)
	f.Drop(a)
	assert.Zero(t, f.Len())
	assert.Empty(t, f.keys, "nothing is kept for nobody")
}

func TestFollowersOfSelections(t *testing.T) {
	t.Parallel()
	var f Followers
	a, b := deploy.Ref{Kind: widgets, Namespace: "shop", Name: "a"}, deploy.Ref{Kind: widgets, Namespace: "shop", Name: "b"}
	red := labels.SelectorFromSet(labels.Set{"colour": "red"})
	coloured := func(namespace, name, colour string) *unstructured.Unstructured {
		obj := object(configMaps, namespace, name, colour)
		obj.SetLabels(map[string]string{"colour": colour})
		obj.SetResourceVersion(colour)
		return obj
	}
	f.AddAll(a, configMaps, "shop", red)
	f.AddAll(b, configMaps, "", nil)
	f.Add(a, deploy.Ref{Kind: configMaps, Namespace: "elsewhere", Name: "one"})
	for _, row := range []struct {
		reason string
		event  deploy.Event
		want   string
	}{
		{"kinds 8: one that matches", deploy.Event{Type: deploy.Added, New: coloured("shop", "x", "red")}, "Widget shop/a, Widget shop/b"},
		{"kinds 8: one that doesn't", deploy.Event{Type: deploy.Added, New: coloured("shop", "x", "blue")}, "Widget shop/b"},
		{"kinds 8: one that begins to", deploy.Event{Type: deploy.Modified, Old: coloured("shop", "x", "blue"), New: coloured("shop", "x", "red")}, "Widget shop/a, Widget shop/b"},
		{"kinds 8: one that ceases to", deploy.Event{Type: deploy.Modified, Old: coloured("shop", "x", "red"), New: coloured("shop", "x", "blue")}, "Widget shop/a, Widget shop/b"},
		{"kinds 8: another namespace", deploy.Event{Type: deploy.Added, New: coloured("elsewhere", "x", "red")}, "Widget shop/b"},
		{"one that is followed by its name", deploy.Event{Type: deploy.Added, New: coloured("elsewhere", "one", "blue")}, "Widget shop/a, Widget shop/b"},
		{"another kind", deploy.Event{Type: deploy.Added, New: object(widgets, "shop", "x", "c")}, ""},
		{"one that left the view", left(coloured("shop", "x", "red")), ""},
	} {
		assert.Equal(t, row.want, keys(f.Of(row.event)), row.reason)
	}
	f.Begin(a)
	f.AddAll(a, configMaps, "shop", red)
	f.End(a)
	red1 := deploy.Event{Type: deploy.Added, New: coloured("shop", "x", "red")}
	assert.Equal(t, "Widget shop/a, Widget shop/b", keys(f.Of(red1)), "asked for again")
	f.Begin(a)
	f.End(a)
	assert.Equal(t, "Widget shop/b", keys(f.Of(red1)), "and not again")
	f.DropKind(widgets)
	assert.Zero(t, f.Len())
	assert.Empty(t, f.keys)
	assert.Empty(t, f.selections, "nothing is kept for nobody")
}
