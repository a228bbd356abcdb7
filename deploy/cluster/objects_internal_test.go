package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var heldKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func heldObject(namespace, name, uid, version string, owners ...string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"version": version}}}
	obj.SetGroupVersionKind(heldKind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	obj.SetUID(types.UID(uid))
	obj.SetResourceVersion(version)
	var references []metav1.OwnerReference
	for _, owner := range owners {
		references = append(references, metav1.OwnerReference{APIVersion: "v1", Kind: "Shop", Name: owner, UID: types.UID(owner)})
	}
	obj.SetOwnerReferences(references)
	return obj
}

func versionsOf(objects []*unstructured.Unstructured) (names []string) {
	for _, obj := range objects {
		names = append(names, obj.GetNamespace()+"/"+obj.GetName()+"@"+obj.GetResourceVersion())
	}
	slices.Sort(names)
	return names
}

// Whatever comes and goes, the objects are what a plain map says that they are.
func TestObjects(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	pool := compact.NewPool()
	all, plain := newObjects(), map[string]*unstructured.Unstructured{}
	for step := range 5_000 {
		namespace, name := fmt.Sprint("n", random.IntN(3)), fmt.Sprint("o", random.IntN(12))
		key := namespace + "/" + name
		before := plain[key]
		var returned *unstructured.Unstructured
		if random.IntN(3) == 0 {
			returned = all.remove(namespace, name)
			delete(plain, key)
		} else {
			owners := []string{"a", "b", "a"}[:random.IntN(4)]
			plain[key] = heldObject(namespace, name, "u", fmt.Sprint(step), owners...)
			returned = all.put(pool.Encode(plain[key].DeepCopy()))
		}
		require.Equal(t, before, returned)
	}
	var want, owned, there []string
	for _, obj := range plain {
		want = append(want, versionsOf([]*unstructured.Unstructured{obj})...)
		if slices.ContainsFunc(obj.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == "a" }) {
			owned = append(owned, versionsOf([]*unstructured.Unstructured{obj})...)
		}
		if obj.GetNamespace() == "n1" {
			there = append(there, versionsOf([]*unstructured.Unstructured{obj})...)
		}
		require.Equal(t, obj, all.get(obj.GetNamespace(), obj.GetName()))
	}
	slices.Sort(want)
	slices.Sort(owned)
	slices.Sort(there)
	assert.Equal(t, want, versionsOf(all.in("")))
	assert.Equal(t, there, versionsOf(all.in("n1")))
	assert.Equal(t, owned, versionsOf(all.owned("a")))
	for _, obj := range plain {
		all.remove(obj.GetNamespace(), obj.GetName())
	}
	assert.Empty(t, all.byName)
	assert.Empty(t, all.byOwner, "nothing is kept for nobody")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	first, second, other := heldObject("n", "a", "1", "1"), heldObject("n", "a", "1", "2"), heldObject("n", "a", "2", "3")
	for reason, row := range map[string]struct {
		before, after *unstructured.Unstructured
		want          []deploy.Event
	}{
		"nothing before, nothing after":  {nil, nil, nil},
		"it came":                        {nil, first, []deploy.Event{{Type: deploy.Added, New: first}}},
		"it changed":                     {first, second, []deploy.Event{{Type: deploy.Modified, Old: first, New: second}}},
		"it went":                        {first, nil, []deploy.Event{{Type: deploy.Deleted, Old: first, New: first}}},
		"deploy W15: the same once more": {first, first.DeepCopy(), nil},
		"deploy W15: another one took its place in the gap": {second, other, []deploy.Event{{Type: deploy.Deleted, Old: second, New: second}, {Type: deploy.Added, New: other}}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, changes(row.before, row.after))
		})
	}
}
