package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// node is one schema of a document.
type node struct {
	fields map[string]any
	at     *step
	// name is the name of the type if this is an object.
	name string
	// tagged is set for a type that comes from a Go struct of Kubernetes. Its fields merge by the tags of the struct,
	// which the document contains; x-kubernetes-list-type is ignored.
	tagged bool
}

// step is the last step of a path; its parent steps lead to the root.
type step struct {
	parent *step
	name   string
}

// String returns the path as a JSON pointer.
func (s *step) String() string {
	var names []string
	for ; s != nil; s = s.parent {
		names = append(names, "/"+document.EscapeToken(s.name))
	}
	slices.Reverse(names)
	return strings.Join(names, "")
}

func (s *step) to(names ...string) *step {
	for _, name := range names {
		s = &step{parent: s, name: name}
	}
	return s
}

// value returns a field of a node if it is there and of type T. null is the same as absent, and another type is an
// error.
func value[T any](r *reader, n node, key string) (v T, found bool) {
	raw := n.fields[key]
	if raw == nil {
		return v, false
	}
	v, found = raw.(T)
	if !found {
		r.fail(schema.Malformed, n.at.to(key), "it is %s, not %s", document.TypeName(raw), document.TypeName(v))
	}
	return v, found
}

// child returns a field that is an object, as a node.
func (r *reader) child(n node, key string) (node, bool) {
	fields, found := value[map[string]any](r, n, key)
	return node{fields: fields, at: n.at.to(key), name: n.name, tagged: n.tagged}, found
}

// children returns the objects in a list, as nodes.
func (r *reader) children(n node, key string) []node {
	list, _ := value[[]any](r, n, key)
	nodes := make([]node, 0, len(list))
	for i, raw := range list {
		at := n.at.to(key, fmt.Sprint(i))
		fields, ok := raw.(map[string]any)
		if !ok {
			r.fail(schema.Malformed, at, "it is %s, not an object", document.TypeName(raw))
		}
		nodes = append(nodes, node{fields: fields, at: at, name: n.name, tagged: n.tagged})
	}
	return nodes
}

// texts returns the strings in a list.
func (r *reader) texts(n node, key string) []string {
	list, _ := value[[]any](r, n, key)
	texts := make([]string, 0, len(list))
	for i, raw := range list {
		text, ok := raw.(string)
		if !ok {
			r.fail(schema.Malformed, n.at.to(key, fmt.Sprint(i)), "it is %s, not a string", document.TypeName(raw))
		}
		texts = append(texts, text)
	}
	return texts
}
