package dryrun

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// UnknownField is a field of an object that its kind doesn't have. An API server leaves it out, and warns about it or
// refuses the object, as the request asks.
type UnknownField struct {
	// Path is the path of the field, such as spec.boards[0].hight. Beside are the names that the kind has in its place,
	// in ascending order.
	Path   string
	Beside []string
}

// pruner finds the fields of a custom resource that its schema doesn't have, and removes them if remove is set.
type pruner struct {
	remove bool
	found  []UnknownField
}

// value prunes a value whose schema is s. If s is nil, the schema allows any value here, but no fields of it. If kept
// is true, the fields of s are pruned, but other fields aren't.
func (p *pruner) value(value any, s *spec.Schema, at string, kept bool) {
	switch value := value.(type) {
	case map[string]any:
		if s == nil {
			s = &spec.Schema{}
		}
		p.fields(value, s, at, extended(s, embeddedResource), kept || extended(s, preserveUnknownFields))
	case []any:
		items, kept := itemsOf(s), kept || s != nil && extended(s, preserveUnknownFields)
		if items == nil && kept {
			return
		}
		for i, item := range value {
			p.value(item, items, at+"["+strconv.Itoa(i)+"]", kept)
		}
	}
}

func (p *pruner) object(content map[string]any, s *spec.Schema, at string, resource bool) {
	p.fields(content, s, at, resource, extended(s, preserveUnknownFields))
}

func (p *pruner) fields(content map[string]any, s *spec.Schema, at string, resource, kept bool) {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if resource && slices.Contains(resourceFields, name) {
			continue
		}
		switch below, known := fieldOf(s, name); {
		case known:
			p.value(content[name], below, join(at, name), false)
		case !kept:
			p.found = append(p.found, UnknownField{join(at, name), namesOf(s, resource)})
			if p.remove {
				delete(content, name)
			}
		}
	}
}

// resourceFields are the fields that each object has besides its own.
var resourceFields = []string{"apiVersion", "kind", "metadata"}

func namesOf(s *spec.Schema, resource bool) []string {
	names := slices.Collect(maps.Keys(s.Properties))
	if resource {
		names = append(names, resourceFields...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
