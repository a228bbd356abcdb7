package conversion

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Version is a version of a kind, for tools such as package conversiontest.
type Version struct {
	// Kind is the kind in this version.
	Kind schema.GroupVersionKind
	// Type is the Go type of the objects.
	Type reflect.Type
	// Up and Down call the version's Functions as they are: they recover no panics, and keep nothing. from and to are
	// pointers to values of Type and of the hub's Type. The hub has neither.
	Up, Down func(from, to any) error
}

// Versions returns all versions, the hub first, and the others sorted by name.
func (c *Converter[Hub]) Versions() []Version {
	versions := []Version{{Kind: c.hub, Type: reflect.TypeFor[Hub]()}}
	for _, name := range c.versions()[1:] {
		versions = append(versions, c.spokes[name].version)
	}
	return versions
}

func versionOf[T, Hub any](kind schema.GroupVersionKind, functions Functions[T, Hub]) Version {
	return Version{Kind: kind, Type: reflect.TypeFor[T](), Up: untyped(functions.Up), Down: untyped(functions.Down)}
}

// untyped returns a function about pointers to values of any type.
func untyped[From, To any](f func(from *From, to *To) error) func(from, to any) error {
	return func(from, to any) error {
		source, isFrom := from.(*From)
		target, isTo := to.(*To)
		if !isFrom || !isTo {
			return fmt.Errorf("%T to %T: want %T to %T", from, to, source, target)
		}
		return f(source, target)
	}
}
