package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Protocol is the number of the protocol. Another one can't be spoken.
const Protocol = 1

// What a manager calls of a child.
const (
	Hello    = "hello"    // Greeting -> Declaration
	Setup    = "setup"    // Session -> Described
	Render   = "render"   // Part -> Objects
	Content  = "content"  // Part -> the content of an object
	Gate     = "gate"     // Part -> bool
	Judge    = "judge"    // Part
	Hook     = "hook"     // Hooked -> HookAnswer
	Release  = "release"  // ID of a session; a notice
	When     = "when"     // Happened -> bool
	Keys     = "keys"     // Happened -> []Ref
	External = "external" // Kind; runs the external sources of a kind until the call is cancelled
)

// What a child calls of its manager.
const (
	Get    = "get"    // Read -> Found
	List   = "list"   // Read -> Found
	Scope  = "scope"  // Kind -> text
	Kinds  = "kinds"  // text -> []Kind
	Own    = "own"    // Read
	Follow = "follow" // Read
	Delete = "delete" // Read
	Event  = "event"  // Recorded; a notice
	Log    = "log"    // Logged; a notice
	Bring  = "bring"  // Brought; a notice
	Known  = "known"  // Kind -> []Ref
	Failed = "failed" // Brought; a notice
)

// The hooks of a controller, by the names of their methods.
const (
	Finalize        = "Finalize"
	AfterDeploy     = "AfterDeploy"
	AfterVerify     = "AfterVerify"
	AfterIncomplete = "AfterIncomplete"
	Exhausted       = "Exhausted"
	Requeue         = "Requeue"
)

// Kind is a kind.
type Kind struct {
	_                    struct{} `cbor:",toarray"`
	Group, Version, Name string
}

// NewKind is a kind as it is sent.
func NewKind(k schema.GroupVersionKind) Kind {
	return Kind{Group: k.Group, Version: k.Version, Name: k.Kind}
}

// GVK is the kind that was sent.
func (k Kind) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// NewKinds are kinds as they are sent.
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

// NewRef is a reference as it is sent.
func NewRef(r deploy.Ref) *Ref {
	return &Ref{Kind: NewKind(r.Kind), Namespace: r.Namespace, Name: r.Name}
}

// Ref is the reference that was sent, the zero value for none.
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
	// When: it filters the events of its resources.
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

// HasExternal reports whether it brings resources to reconcile by sources outside of the cluster.
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
