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
	// Paths are the paths of the fields, and Patch has their values.
	Paths []string
	Patch map[string]any
	// Children are the children that are as this revision wants them.
	Children Members
}

// Member names a child in the namespace of its parent, in any version.
type Member struct {
	Kind schema.GroupKind
	Name string
}

// Members are children. nil is none.
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

// Latest returns the latest revision, the zero value for none.
func (h History) Latest() Revision {
	if len(h) == 0 {
		return Revision{}
	}
	return h[len(h)-1]
}

// Of returns the place of the revision that a child belongs to, negative for none. If several have it, because somebody
// has changed them, it is the later one.
func (h History) Of(child Member) int {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Children[child] {
			return i
		}
	}
	return -1
}

// IsLatest reports whether a child belongs to the latest revision.
func (h History) IsLatest(child Member) bool { return h.Latest().Children[child] }

// Begin returns the history after the fields have become those of a revision, whose Number and Children don't count.
// Fields that were there before are their revision again, with the children that it still has, under a new number.
func (h History) Begin(latest Revision) History {
	if len(h) > 0 && h.Latest().Name == latest.Name {
		return h
	}
	latest.Number, latest.Children = h.Latest().Number+1, nil
	next := make(History, 0, len(h)+1)
	for _, one := range h {
		if one.Name == latest.Name {
			latest.Children = one.Children
			continue
		}
		next = append(next, one)
	}
	return append(next, latest).used()
}

// Move returns the history after some children have become those of the latest revision, and others are of no revision
// any more. Earlier revisions that have no children any more are gone.
func (h History) Move(moved, gone Members) History {
	next := slices.Clone(h)
	for i, one := range next {
		children := maps.Clone(one.Children)
		maps.DeleteFunc(children, func(child Member, _ bool) bool { return moved[child] || gone[child] })
		if i == len(next)-1 && len(moved) > 0 {
			if children == nil {
				children = Members{}
			}
			maps.Copy(children, moved)
		}
		next[i].Children = children
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
