package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a GroupVersionKind as it is sent.
type Kind struct {
	_                    struct{} `cbor:",toarray"`
	Group, Version, Name string
}

// NewKind converts a kind for sending.
func NewKind(k schema.GroupVersionKind) Kind {
	return Kind{Group: k.Group, Version: k.Version, Name: k.Kind}
}

// GVK returns the kind that was sent.
func (k Kind) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// NewKinds converts kinds for sending.
func NewKinds(kinds []schema.GroupVersionKind) []Kind { return converted(kinds, NewKind) }

// GVKs returns the kinds that were sent.
func GVKs(kinds []Kind) []schema.GroupVersionKind { return converted(kinds, Kind.GVK) }

func converted[From, To any](all []From, convert func(From) To) []To {
	out := make([]To, len(all))
	for i, one := range all {
		out[i] = convert(one)
	}
	return out
}

// Ref is a deploy.Ref as it is sent.
type Ref struct {
	_               struct{} `cbor:",toarray"`
	Kind            Kind
	Namespace, Name string
}

// NewRef converts a reference for sending.
func NewRef(r deploy.Ref) *Ref {
	return &Ref{Kind: NewKind(r.Kind), Namespace: r.Namespace, Name: r.Name}
}

// Ref returns the reference that was sent, the zero value for nil.
func (r *Ref) Ref() deploy.Ref {
	if r == nil {
		return deploy.Ref{}
	}
	return deploy.Ref{Kind: r.Kind.GVK(), Namespace: r.Namespace, Name: r.Name}
}

// KeysOf converts keys for sending.
func KeysOf(keys []deploy.Ref) []Ref {
	return converted(keys, func(key deploy.Ref) Ref { return *NewRef(key) })
}

// KeysIn returns the keys that were sent.
func KeysIn(refs []Ref) []deploy.Ref {
	return converted(refs, func(ref Ref) deploy.Ref { return ref.Ref() })
}

// Greeting is the first call of a manager.
type Greeting struct {
	Protocol int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"`
	// Domain, FieldManager and NameObjects are the settings deploy.KeyDomain, deploy.FieldManager and
	// reconcile.NameObjects of the manager.
	Domain       string `cbor:"3,keyasint"`
	FieldManager string `cbor:"4,keyasint"`
	NameObjects  bool   `cbor:"5,keyasint"`
	// Level is the lowest level that the manager logs.
	Level int `cbor:"6,keyasint"`
	// DefaultNamespace is the namespace for objects of a cluster-scoped resource that name no namespace.
	DefaultNamespace string `cbor:"7,keyasint,omitempty"`
}

// Declaration lists the kinds that a child controls.
type Declaration struct {
	Protocol int `cbor:"1,keyasint"`
	// Release is the release that the child's program names, for messages.
	Release string           `cbor:"2,keyasint"`
	Kinds   []ControlledKind `cbor:"3,keyasint"`
}

// ControlledKind is a kind for which a child has a controller.
type ControlledKind struct {
	Kind  Kind     `cbor:"1,keyasint"`
	Scope string   `cbor:"2,keyasint,omitempty"`
	Hooks []string `cbor:"3,keyasint,omitempty"`
	// When: the controller filters the events of its resources.
	When     bool     `cbor:"4,keyasint,omitempty"`
	Owned    []Source `cbor:"5,keyasint,omitempty"`
	Mapped   []Source `cbor:"6,keyasint,omitempty"`
	External int      `cbor:"7,keyasint,omitempty"`
	// Conditions are the conditions of the controller's own.
	Conditions []DeclaredCondition `cbor:"8,keyasint,omitempty"`
}

// DeclaredCondition is a status.Declared without its table of errors.
type DeclaredCondition struct {
	Type       string `cbor:"1,keyasint"`
	Negative   bool   `cbor:"2,keyasint,omitempty"`
	Summarises bool   `cbor:"3,keyasint,omitempty"`
	Reset      bool   `cbor:"4,keyasint,omitempty"`
	UpdateTime bool   `cbor:"5,keyasint,omitempty"`
}

// Source is an owned or mapped kind that a controller declares. When: the controller filters its events.
type Source struct {
	Kind Kind `cbor:"1,keyasint"`
	When bool `cbor:"2,keyasint,omitempty"`
}

// HasExternal reports whether the declaration has external sources.
func (d *Declaration) HasExternal() bool {
	return slices.ContainsFunc(d.Kinds, func(r ControlledKind) bool { return r.External > 0 })
}

// ControlledKind returns the declaration for a kind, nil if the child doesn't control the kind.
func (d *Declaration) ControlledKind(kind Kind) *ControlledKind {
	for i := range d.Kinds {
		if d.Kinds[i].Kind == kind {
			return &d.Kinds[i]
		}
	}
	return nil
}

// Check returns an error if the declaration is invalid.
func (d *Declaration) Check() error {
	if len(d.Kinds) == 0 {
		return errors.New("it controls no kind")
	}
	for i, ruled := range d.Kinds {
		switch {
		case ruled.Kind.Version == "" || ruled.Kind.Name == "":
			return fmt.Errorf("it controls a kind without name or version: %q", ruled.Kind.GVK())
		case d.ControlledKind(ruled.Kind) != &d.Kinds[i]:
			return fmt.Errorf("it controls the kind %s twice", ruled.Kind.Name)
		case ruled.Scope != "" && ruled.Scope != string(deploy.Namespaced) && ruled.Scope != string(deploy.ClusterScoped):
			return fmt.Errorf("it declares the scope %q of the kind %s: it must be %s or %s", ruled.Scope, ruled.Kind.Name, deploy.Namespaced, deploy.ClusterScoped)
		}
		for _, source := range slices.Concat(ruled.Owned, ruled.Mapped) {
			if source.Kind.Version == "" || source.Kind.Name == "" {
				return fmt.Errorf("it declares a source of the kind %s without name or version: %q", ruled.Kind.Name, source.Kind.GVK())
			}
		}
	}
	return nil
}
