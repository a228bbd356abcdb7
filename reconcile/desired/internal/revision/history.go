package revision

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Revision is a state of the declared fields of a parent.
type Revision struct {
	// Name is the same for the same fields of a parent.
	Name string
	// Number orders the revisions of a parent.
	Number int64
	// Patch has the fields.
	Patch map[string]any
	// Children are the children that are as this revision wants them. It is nil for the latest one, which has all others.
	Children Members
}

// Member names a child in the namespace of its parent, in any version.
type Member struct {
	Kind schema.GroupKind
	Name string
}

// Members are children.
type Members map[Member]bool

// Sorted returns the children in the order of their kinds and names.
func (m Members) Sorted() []Member {
	return slices.SortedFunc(maps.Keys(m), func(a, b Member) int {
		if byKind := strings.Compare(a.Kind.String(), b.Kind.String()); byKind != 0 {
			return byKind
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// History has the revisions of a parent, ascending by number. The last one is the latest. Its methods change nothing.
type History []Revision

// Latest returns the number of the latest revision, zero for none.
func (h History) Latest() int64 {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].Number
}

// Past returns the place of the earlier revision that has a child, negative if it belongs to the latest one.
func (h History) Past(child Member) int {
	return slices.IndexFunc(h[:max(len(h)-1, 0)], func(r Revision) bool { return r.Children[child] })
}

// Begin returns the history after the fields have become those of a name and a patch. If they differ from the latest
// ones, the revision that was the latest keeps those of the existing children that it has. Fields that were there before
// are their revision again, under a new number.
func (h History) Begin(name string, patch map[string]any, existing []Member) History {
	number := h.Latest()
	var next History
	for i, one := range h {
		isLast := i == len(h)-1
		if one.Name == name {
			if isLast {
				number--
			}
			continue
		}
		if isLast && one.Children == nil {
			one.Children = Members{}
			for _, child := range existing {
				if h.Past(child) < 0 {
					one.Children[child] = true
				}
			}
		}
		next = append(next, one)
	}
	return append(next, Revision{Name: name, Number: number + 1, Patch: patch}).used()
}

// Move returns the history after some children have become those of the latest revision. Earlier revisions that have no
// children any more are gone.
func (h History) Move(children Members) History {
	next := slices.Clone(h)
	for i := range next[:max(len(next)-1, 0)] {
		next[i].Children = maps.Clone(next[i].Children)
		maps.DeleteFunc(next[i].Children, func(child Member, _ bool) bool { return children[child] })
	}
	return next.used()
}

// used returns the revisions with children, and the latest one.
func (h History) used() (used History) {
	for i, one := range h {
		if i == len(h)-1 || len(one.Children) > 0 {
			used = append(used, one)
		}
	}
	return used
}
