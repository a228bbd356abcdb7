package objects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Set holds objects. The zero value is empty. The objects are shared.
type Set struct {
	// kinds holds the objects of each kind, ascending by namespace and name.
	kinds map[schema.GroupVersionKind][]*unstructured.Unstructured
}

// Collect returns a Set of objects in any order. Of several with one Ref the last one counts.
func Collect(all ...*unstructured.Unstructured) Set {
	s := Set{kinds: map[schema.GroupVersionKind][]*unstructured.Unstructured{}}
	for _, obj := range all {
		ref := deploy.RefOf(obj)
		if i, found := s.find(ref); found {
			s.kinds[ref.Kind][i] = obj
		} else {
			s.kinds[ref.Kind] = slices.Insert(s.kinds[ref.Kind], i, obj)
		}
	}
	return s
}

// Grouped returns a Set of objects that come kind after kind, ascending by namespace and name within each.
func Grouped(all []*unstructured.Unstructured) Set {
	s := Set{kinds: map[schema.GroupVersionKind][]*unstructured.Unstructured{}}
	for start := 0; start < len(all); {
		end := start + 1
		for end < len(all) && all[end].GetKind() == all[start].GetKind() && all[end].GetAPIVersion() == all[start].GetAPIVersion() {
			end++
		}
		s.kinds[all[start].GroupVersionKind()] = all[start:end:end]
		start = end
	}
	return s
}

// Of returns the objects of a kind.
func (s Set) Of(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	return slices.Clip(s.kinds[kind])
}

// At returns the object that a Ref names, nil if there is none.
func (s Set) At(ref deploy.Ref) *unstructured.Unstructured {
	if i, found := s.find(ref); found {
		return s.kinds[ref.Kind][i]
	}
	return nil
}

// Named returns the object of a kind with a name, "namespace/name" or, for any namespace, "name". It returns nil if
// there is none, and the first one if there are several.
func (s Set) Named(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	all := s.kinds[kind]
	if len(all) == 0 {
		return nil
	}
	if namespace, inner, qualified := strings.Cut(name, "/"); qualified {
		return s.At(deploy.Ref{Kind: kind, Namespace: namespace, Name: inner})
	}
	first, last := all[0].GetNamespace(), all[len(all)-1].GetNamespace()
	if first == last {
		return s.At(deploy.Ref{Kind: kind, Namespace: first, Name: name})
	}
	if i := slices.IndexFunc(all, func(obj *unstructured.Unstructured) bool { return obj.GetName() == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Len returns the number of all objects.
func (s Set) Len() (n int) {
	for _, all := range s.kinds {
		n += len(all)
	}
	return n
}

func (s Set) find(ref deploy.Ref) (place int, found bool) {
	return slices.BinarySearchFunc(s.kinds[ref.Kind], ref, func(obj *unstructured.Unstructured, ref deploy.Ref) int {
		return cmp.Or(strings.Compare(obj.GetNamespace(), ref.Namespace), strings.Compare(obj.GetName(), ref.Name))
	})
}
