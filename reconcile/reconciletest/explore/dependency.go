package explore

import (
	"slices"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// dependency is an object of others, which is there before the resource: the operator may depend on it.
type dependency struct {
	object *unstructured.Unstructured
	edits  []edit.Edit
}

// dependenciesIn returns the objects at the beginning of a harness that aren't resources, without those that are
// ignored and without namespaces.
func (e *explorer) dependenciesIn(h *reconciletest.Harness) (found []dependency) {
	for _, obj := range e.objects(h) {
		kind := obj.GroupVersionKind().GroupKind()
		if kind == e.kind.GroupKind() || kind == (schema.GroupKind{Kind: "Namespace"}) || slices.Contains(notCompared, kind) {
			continue
		}
		obj.SetManagedFields(nil)
		for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(obj.Object, "metadata", field)
		}
		found = append(found, dependency{obj, edit.OfOther(obj, definitionsOf(h))})
	}
	return found
}

// dependent returns the lives of a sample in which objects of others change, or come only after the resource. of is the
// name of the life in which they don't.
func dependent(of string, sample *unstructured.Unstructured, on []dependency) (lives []life) {
	for _, d := range on {
		lives = append(lives, before(of, sample, d.object))
		for _, by := range d.edits {
			lives = append(lives, beneath(of, sample, d.object, by))
		}
	}
	return lives
}

// before is the life of a resource that is created before an object of others that it may need, and deleted after it.
// Without that the operator may fail.
func before(of string, sample, other *unstructured.Unstructured) life {
	name := nameOf(other)
	return life{
		name: of + " before " + name, resource: sample, by: &edit.Edit{Rank: edit.OneField, Paths: []string{name}}, first: 1,
		again: func(resource *unstructured.Unstructured) life { return before(of, resource, other) },
		chapters: []chapter{
			foreign(remove(other)), lacking(create(sample)), foreign(create(other)), remove(sample), create(sample),
			lacking(foreign(remove(other))), lacking(remove(sample)), foreign(create(other)),
		},
		equal: []pair{
			{4, 2, "a resource that is older than an object of others has what a newer one would have", true},
			{-1, 7, "what is deleted leaves nothing", false},
		},
	}
}

// beneath is the life of a resource while an object of others has an edit, which is undone afterwards.
func beneath(of string, sample, other *unstructured.Unstructured, by edit.Edit) life {
	name, after := nameOf(other), other.DeepCopy()
	by.Do(after)
	paths := make([]string, len(by.Paths))
	for i, path := range by.Paths {
		paths[i] = name + " " + path
	}
	change := foreign(change(name, by.Name, after))
	return life{
		name: of + " and " + name + " with " + by.Name, resource: sample, by: &edit.Edit{Rank: edit.OneField, Paths: paths}, first: 1,
		again:    func(resource *unstructured.Unstructured) life { return beneath(of, resource, other, by) },
		chapters: []chapter{create(sample), change, foreign(undo(other)), remove(sample), change, create(sample)},
		equal: []pair{
			{0, 2, "an edit that is undone leaves nothing", false},
			{1, 5, "a resource has after an edit of an object of others what a new one would have", true},
		},
	}
}

func foreign(c chapter) chapter {
	c.foreign = true
	return c
}

func lacking(c chapter) chapter {
	c.lacks = true
	return c
}
