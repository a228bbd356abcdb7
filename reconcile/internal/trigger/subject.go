package trigger

import "k8s.io/apimachinery/pkg/runtime/schema"

// Subject is a reason why a kind is watched: it is controlled (only Owner is set), owned (Owner and Child), followed
// (only Child), mapped or indexed (with its place in the mapped or indexed kinds, counted from one).
type Subject struct {
	Owner, Child    schema.GroupVersionKind
	Mapped, Indexed int
}

// Watched returns the kind that is watched.
func (s Subject) Watched() schema.GroupVersionKind {
	if s.Child.Empty() {
		return s.Owner
	}
	return s.Child
}
