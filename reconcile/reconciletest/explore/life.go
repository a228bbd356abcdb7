package explore

import (
	"errors"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// life is what happens to one or two resources, in chapters. After each chapter the operator works until it has nothing
// left to do.
type life struct {
	name     string
	chapters []chapter
	// equal are pairs of chapters after which the cluster must be in the same state.
	equal []pair
	// sample is the resource, if it is lived with as it is.
	sample *unstructured.Unstructured
	// resource is what the life begins with, and again makes the same life of another one.
	resource *unstructured.Unstructured
	again    func(resource *unstructured.Unstructured) life
	// unready: a workload never becomes ready, so the resource must not be Ready. It is the name of the workload.
	unready string
	// by is the edit of a life with one.
	by *edit.Edit
	// second is the second resource of a life with two. own are pairs of chapters after which the first one must have
	// the same.
	second *unstructured.Unstructured
	own    []pair
	// first is the first chapter, by index, that is disturbed: those before it are disturbed in another life.
	first int
}

// pair are two chapters, by index. reason says why their states are equal. The first may be -1: the state at the
// beginning. anew: the second is that of a new resource, which may lack what an older one leaves.
type pair struct {
	first, second int
	reason        string
	anew          bool
}

// chapter is one thing that somebody does. begin returns an error if the cluster refuses it.
type chapter struct {
	name  string
	begin func(h *reconciletest.Harness) error
	// edited: there is an edit then, with which the operator may be right to fail. lacks: an object of others isn't
	// there, and the operator may fail until it is. removes: it is a deletion.
	edited, lacks, removes bool
	// repeats: it is as an earlier one, which is disturbed in its place.
	repeats bool
	// idle: nothing happens for a minute.
	idle bool
	// foreign: it is about an object of others, and not about the resource.
	foreign bool
}

func (l life) String() string { return l.name }

// whole is the life of a resource that nobody changes. name is that of the life.
func whole(name string, sample *unstructured.Unstructured) life {
	return life{
		name: name, sample: sample, resource: sample,
		again:    func(resource *unstructured.Unstructured) life { return whole(name, resource) },
		chapters: []chapter{create(sample), remove(sample)},
		equal:    []pair{{-1, 1, "what is deleted leaves nothing", false}},
	}
}

// changed is the life of a resource with an edit, which is undone afterwards. of is the name of the life without it.
func changed(of string, sample *unstructured.Unstructured, by edit.Edit) life {
	after := sample.DeepCopy()
	by.Do(after)
	name, edited := nameOf(sample), create(after)
	edited.name += " with " + by.Name
	edited.edited = true
	l := life{name: of + " with " + by.Name, by: &by, resource: sample, first: 1}
	l.again = func(resource *unstructured.Unstructured) life { return changed(of, resource, by) }
	switch {
	case by.First != nil:
		half := sample.DeepCopy()
		by.First.Do(half)
		l.chapters = []chapter{
			create(sample), change(name, by.First.Name, half), change(name, by.Name, after), undo(sample), change(name, by.Name, after),
		}
		l.equal = []pair{{0, 3, "an edit that is undone leaves nothing", false}, {2, 4, "two edits at once have what one after the other has", true}}
	default:
		again, removed := change(name, by.Name, after), remove(sample)
		again.repeats, removed.edited = true, true
		l.chapters = []chapter{create(sample), change(name, by.Name, after), undo(sample), again, removed, edited}
		l.equal = []pair{
			{0, 2, "an edit that is undone leaves nothing", false},
			{-1, 4, "what is deleted leaves nothing", false},
			{1, 5, "an edited resource has what a new one would have, but the new one differs", true},
		}
	}
	return l
}

// held is the life of a resource of which a workload never becomes ready. of is the name of the life in which it does.
func held(of string, sample *unstructured.Unstructured, workload string) life {
	return life{
		name: of + " while " + workload + " isn't ready", unready: workload, resource: sample, first: 1,
		again: func(resource *unstructured.Unstructured) life { return held(of, resource, workload) },
		chapters: []chapter{{name: "create " + nameOf(sample) + " while " + workload + " isn't ready", begin: func(h *reconciletest.Harness) error {
			h.Hold(workload)
			return h.TryApply(sample.DeepCopy())
		}}},
	}
}

// edits reports whether the edit of a life changes a field, or something in it or around it.
func (l life) edits(field string) bool {
	return l.by != nil && slices.ContainsFunc(l.by.Paths, func(path string) bool {
		path, _, _ = strings.Cut(path, "[")
		field, _, _ := strings.Cut(field, "[")
		return strings.HasPrefix(path+".", field+".") || strings.HasPrefix(field+".", path+".")
	})
}

func create(obj *unstructured.Unstructured) chapter {
	return chapter{name: "create " + nameOf(obj), begin: func(h *reconciletest.Harness) error {
		if h.Get(nameOf(obj)) != nil {
			return errors.New("an earlier one is still there")
		}
		return h.TryApply(obj.DeepCopy())
	}}
}

func remove(obj *unstructured.Unstructured) chapter {
	return chapter{name: "delete " + nameOf(obj), removes: true, begin: func(h *reconciletest.Harness) error { return h.TryDelete(nameOf(obj)) }}
}

// change replaces the spec and what else isn't metadata or status.
func change(name, what string, to *unstructured.Unstructured) chapter {
	return chapter{name: "edit " + name + ": " + what, edited: true, begin: func(h *reconciletest.Harness) error {
		return h.TryEdit(name, func(obj *unstructured.Unstructured) {
			content := to.DeepCopy().Object
			for _, kept := range []string{"metadata", "status"} {
				content[kept] = obj.Object[kept]
			}
			if content["status"] == nil {
				delete(content, "status")
			}
			obj.Object = content
		})
	}}
}

// undo changes an object back to what it was before an edit.
func undo(to *unstructured.Unstructured) chapter {
	c := change(nameOf(to), "the edit undone", to)
	c.edited = false
	return c
}

// nameOf returns the name of an object for a harness.
func nameOf(obj *unstructured.Unstructured) string { return refName(deploy.RefOf(obj)) }

func refName(ref deploy.Ref) string {
	kind := ref.Kind.Kind
	if ref.Kind.Group != "" && !slices.Contains([]string{"apps", "batch"}, ref.Kind.Group) {
		kind += "." + ref.Kind.Group
	}
	if ref.Namespace != "" {
		return kind + " " + ref.Namespace + "/" + ref.Name
	}
	return kind + " " + ref.Name
}
