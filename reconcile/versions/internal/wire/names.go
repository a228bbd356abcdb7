package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind.
type Kind struct {
	_                    struct{} `cbor:",toarray"`
	Group, Version, Name string
}

// NewKind returns a kind as it is sent.
func NewKind(k schema.GroupVersionKind) Kind {
	return Kind{Group: k.Group, Version: k.Version, Name: k.Kind}
}

// GVK returns the kind that was sent.
func (k Kind) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// NewKinds returns kinds as they are sent.
func NewKinds(kinds []schema.GroupVersionKind) []Kind {
	sent := make([]Kind, len(kinds))
	for i, kind := range kinds {
		sent[i] = NewKind(kind)
	}
	return sent
}

// Ref names an object.
type Ref struct {
	_               struct{} `cbor:",toarray"`
	Kind            Kind
	Namespace, Name string
}

// NewRef returns a reference as it is sent.
func NewRef(r deploy.Ref) *Ref {
	return &Ref{Kind: NewKind(r.Kind), Namespace: r.Namespace, Name: r.Name}
}

// Ref returns the reference that was sent, the zero value for none.
func (r *Ref) Ref() deploy.Ref {
	if r == nil {
		return deploy.Ref{}
	}
	return deploy.Ref{Kind: r.Kind.GVK(), Namespace: r.Namespace, Name: r.Name}
}

// KeysOf returns keys as they are sent.
func KeysOf(keys []deploy.Ref) []Ref {
	refs := make([]Ref, len(keys))
	for i, key := range keys {
		refs[i] = *NewRef(key)
	}
	return refs
}

// KeysIn returns the keys that were sent.
func KeysIn(refs []Ref) []deploy.Ref {
	keys := make([]deploy.Ref, len(refs))
	for i := range refs {
		keys[i] = refs[i].Ref()
	}
	return keys
}

// Greeting is the first call of a manager.
type Greeting struct {
	Protocol int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"`
	// Domain is that of the keys of annotations, NameObjects that of reconcile.NameObjects, FieldManager the name that
	// objects are applied by.
	Domain       string `cbor:"3,keyasint"`
	FieldManager string `cbor:"4,keyasint"`
	NameObjects  bool   `cbor:"5,keyasint"`
	// Level is the lowest level of lines that the manager logs.
	Level int `cbor:"6,keyasint"`
	// DefaultNamespace is that of objects of cluster-scoped resources without a namespace of their own.
	DefaultNamespace string `cbor:"7,keyasint,omitempty"`
}

// Declaration is what a child controls.
type Declaration struct {
	Protocol int `cbor:"1,keyasint"`
	// Release is the release that the child's program names, for messages.
	Release string  `cbor:"2,keyasint"`
	Kinds   []Ruled `cbor:"3,keyasint"`
}

// Ruled is one kind that a child has a controller for.
type Ruled struct {
	Kind  Kind     `cbor:"1,keyasint"`
	Scope string   `cbor:"2,keyasint,omitempty"`
	Hooks []string `cbor:"3,keyasint,omitempty"`
	// When: it filters the events of its resources.
	When     bool     `cbor:"4,keyasint,omitempty"`
	Owned    []Source `cbor:"5,keyasint,omitempty"`
	Mapped   []Source `cbor:"6,keyasint,omitempty"`
	External int      `cbor:"7,keyasint,omitempty"`
}

// Source is one kind that a controller declares. When: it filters the events of the kind.
type Source struct {
	Kind Kind `cbor:"1,keyasint"`
	When bool `cbor:"2,keyasint,omitempty"`
}

// HasExternal reports whether it has external sources.
func (d *Declaration) HasExternal() bool {
	return slices.ContainsFunc(d.Kinds, func(r Ruled) bool { return r.External > 0 })
}

// Ruled returns the declaration of a kind, nil if the child doesn't control the kind.
func (d *Declaration) Ruled(kind Kind) *Ruled {
	for i := range d.Kinds {
		if d.Kinds[i].Kind == kind {
			return &d.Kinds[i]
		}
	}
	return nil
}

// Check returns what is invalid in it.
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
			return fmt.Errorf("it declares the scope %q of the kind %s: there are %s and %s", ruled.Scope, ruled.Kind.Name, deploy.Namespaced, deploy.ClusterScoped)
		}
		for _, source := range slices.Concat(ruled.Owned, ruled.Mapped) {
			if source.Kind.Version == "" || source.Kind.Name == "" {
				return fmt.Errorf("it declares a source of the kind %s without name or version: %q", ruled.Kind.Name, source.Kind.GVK())
			}
		}
	}
	return nil
}
