package wire

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// KeysOf are keys as they are sent.
func KeysOf(keys []deploy.Ref) []Ref {
	refs := make([]Ref, len(keys))
	for i, key := range keys {
		refs[i] = *NewRef(key)
	}
	return refs
}

// KeysIn are the keys that were sent.
func KeysIn(refs []Ref) []deploy.Ref {
	keys := make([]deploy.Ref, len(refs))
	for i := range refs {
		keys[i] = refs[i].Ref()
	}
	return keys
}
