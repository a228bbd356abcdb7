package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The labels by which the operator marks the objects of a guestbook.
const (
	instanceLabel  = "app.kubernetes.io/instance"
	componentLabel = "app.kubernetes.io/component"
)

// board has the known state of one guestbook, from the events of its objects. It must be used by one goroutine only.
type board struct {
	ref deploy.Ref
	// book is the guestbook, nil while there is none.
	book *v1.Guestbook
	// children are its objects, Pods among them.
	children map[deploy.Ref]*unstructured.Unstructured
	// states has the last printed state of each component.
	states map[string]componentState
}

func newBoard(ref deploy.Ref) *board {
	return &board{ref: ref, children: map[deploy.Ref]*unstructured.Unstructured{}, states: map[string]componentState{}}
}

// owns reports whether obj is one of the guestbook's objects.
func (b *board) owns(obj *unstructured.Unstructured) bool {
	return obj.GetNamespace() == b.ref.Namespace && obj.GetLabels()[instanceLabel] == b.ref.Name
}

// decode reads a guestbook into its Go type.
func decode(obj *unstructured.Unstructured) (*v1.Guestbook, error) {
	var book v1.Guestbook
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &book); err != nil {
		return nil, fmt.Errorf("%s: %w", deploy.RefOf(obj), err)
	}
	return &book, nil
}

// components returns the names of the components in the status and of components that have objects.
func (b *board) components() []string {
	names := map[string]bool{}
	if b.book != nil && b.book.Status.ComponentStatus != nil {
		for _, name := range b.book.Status.ComponentStatus.AllComponents {
			names[name] = true
		}
	}
	for _, child := range b.children {
		names[child.GetLabels()[componentLabel]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// objects returns the objects of one component, without its Pods, sorted by kind and name.
func (b *board) objects(component string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for ref, child := range b.children {
		if child.GetLabels()[componentLabel] == component && ref.Kind != podKind {
			objects = append(objects, child)
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetKind()+" "+a.GetName(), b.GetKind()+" "+b.GetName())
	})
	return objects
}
