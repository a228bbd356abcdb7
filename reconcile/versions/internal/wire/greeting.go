package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
)

// Greeting is the first that a manager says.
type Greeting struct {
	Protocol int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"`
	// Domain is that of the keys of annotations, NameObjects that of reconcile.NameObjects, FieldManager the name that objects are applied by.
	Domain       string `cbor:"3,keyasint"`
	FieldManager string `cbor:"4,keyasint"`
	NameObjects  bool   `cbor:"5,keyasint"`
	// Level is the lowest level of lines that the manager logs.
	Level int `cbor:"6,keyasint"`
	// DefaultNamespace is where objects of cluster-scoped resources are that name no namespace.
	DefaultNamespace string `cbor:"7,keyasint,omitempty"`
}

// Declaration is what a child says of itself.
type Declaration struct {
	Protocol int `cbor:"1,keyasint"`
	// Release is the version that the child's program says it is, for messages.
	Release string  `cbor:"2,keyasint"`
	Kinds   []Ruled `cbor:"3,keyasint"`
}

// Ruled is one kind that a child has a controller for.
type Ruled struct {
	Kind  Kind     `cbor:"1,keyasint"`
	Scope string   `cbor:"2,keyasint,omitempty"`
	Hooks []string `cbor:"3,keyasint,omitempty"`
	// When tells that it filters the events of its resources.
	When     bool     `cbor:"4,keyasint,omitempty"`
	Owned    []Source `cbor:"5,keyasint,omitempty"`
	Mapped   []Source `cbor:"6,keyasint,omitempty"`
	External int      `cbor:"7,keyasint,omitempty"`
}

// Source is one kind that a controller declares; When tells that it filters its events.
type Source struct {
	Kind Kind `cbor:"1,keyasint"`
	When bool `cbor:"2,keyasint,omitempty"`
}

// HasExternal tells whether it brings resources to reconcile by sources outside of the cluster.
func (d *Declaration) HasExternal() bool {
	return slices.ContainsFunc(d.Kinds, func(r Ruled) bool { return r.External > 0 })
}

// Ruled is what it says of a kind, nil if it doesn't control that.
func (d *Declaration) Ruled(kind Kind) *Ruled {
	for i := range d.Kinds {
		if d.Kinds[i].Kind == kind {
			return &d.Kinds[i]
		}
	}
	return nil
}

// Check tells what can't be in it.
func (d *Declaration) Check() error {
	if len(d.Kinds) == 0 {
		return errors.New("it controls no kind")
	}
	for i, ruled := range d.Kinds {
		switch {
		case ruled.Kind.Version == "" || ruled.Kind.Name == "":
			return fmt.Errorf("it controls a kind without name or version: %q", ruled.Kind.GVK())
		case d.Ruled(ruled.Kind) != &d.Kinds[i]:
			return fmt.Errorf("it controls the kind %s twice", ruled.Kind.Name)
		case ruled.Scope != "" && ruled.Scope != string(deploy.Namespaced) && ruled.Scope != string(deploy.ClusterScoped):
			return fmt.Errorf("it says the scope %q of the kind %s: there are %s and %s", ruled.Scope, ruled.Kind.Name, deploy.Namespaced, deploy.ClusterScoped)
		}
		for _, source := range slices.Concat(ruled.Owned, ruled.Mapped) {
			if source.Kind.Version == "" || source.Kind.Name == "" {
				return fmt.Errorf("it declares a source of the kind %s without name or version: %q", ruled.Kind.Name, source.Kind.GVK())
			}
		}
	}
	return nil
}
