package smp

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// mergeMap applies a patch to a map; doc may be nil. The result is never doc itself.
func (m *merger) mergeMap(doc, patch map[string]any, t *schema.Type) (map[string]any, error) {
	if err := m.tooDeep(); err != nil {
		return nil, err
	}
	if directive, found := patch[patchDirective]; found {
		return m.replaceMap(directive, patch)
	}
	out := maps.Clone(doc)
	if out == nil {
		out = make(map[string]any, len(patch))
	}
	directed, err := m.retain(out, patch)
	if err != nil {
		return nil, err
	}
	err = m.each(patch, func(key string, value any) error {
		return m.mergeKey(out, patch, key, value, directed, t)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// replaceMap applies a map with a $patch directive.
func (m *merger) replaceMap(directive any, patch map[string]any) (map[string]any, error) {
	switch directive {
	case replaceValue:
		return m.takeMap(patch, keepNulls)
	case deleteElement:
		return map[string]any{}, nil
	default:
		m.enter(patchDirective)
		defer m.leave()
		return nil, m.fail(Invalid, "%s is %s in a map: want %q or %q", patchDirective, quoted(directive), replaceValue, deleteElement)
	}
}

// retain deletes the fields of out that $retainKeys doesn't list, and reports whether patch has any directives.
func (m *merger) retain(out, patch map[string]any) (directed bool, err error) {
	for key := range patch {
		directed = directed || len(key) > 0 && key[0] == '$'
	}
	list, found := patch[retainKeysDirective]
	if !found {
		return directed, nil
	}
	m.enter(retainKeysDirective)
	keys, isList := list.([]any)
	if !isList {
		return true, m.fail(Invalid, "want a list of the fields to keep, not %s", document.TypeName(list))
	}
	retained := make(map[string]bool, len(keys))
	for i, key := range keys {
		name, isString := key.(string)
		if !isString {
			m.enterElement(i)
			return true, m.fail(Invalid, "want the name of a field, not %s", document.TypeName(key))
		}
		retained[name] = true
	}
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if patch[key] != nil && !isDirective(key) && !retained[key] {
			return true, m.fail(Invalid, "the patch sets %q, which isn't among the fields to keep: list it", key)
		}
	}
	m.leave()
	maps.DeleteFunc(out, func(key string, _ any) bool { return !retained[key] })
	return true, nil
}
