package smp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/smp/internal/document"
)

// patch is a patch of a Pod, with directives among its fields, some of them wrong.
func (s *source) patch() map[string]any {
	out := s.pod()
	spec, _ := out["spec"].(map[string]any)
	s.direct(spec, "containers")
	s.direct(spec, "volumes")
	metadata := out["metadata"].(map[string]any)
	s.direct(metadata, "finalizers")
	for _, name := range []string{"containers", "volumes", "tolerations"} {
		list, _ := spec[name].([]any)
		for _, element := range list {
			object := element.(map[string]any)
			s.direct(object, "env")
			s.direct(object, "args")
		}
	}
	delete(out, "apiVersion")
	delete(out, "kind")
	return out
}

// direct puts directives into a map of a patch, some of them about one of its fields.
func (s *source) direct(fields map[string]any, name string) {
	switch s.next(12) {
	case 0:
		fields[patchDirective] = replaceValue
	case 1:
		fields[patchDirective] = deleteElement
	case 2:
		fields[patchDirective] = s.scalar()
	case 3, 4:
		fields[orderDirective+"/"+name] = s.order(fields[name])
	case 5:
		fields[deleteDirective+"/"+name] = s.texts()
	case 6:
		fields[retainKeysDirective] = []any{name, "name", "x"}
	case 7:
		fields["$"+name] = s.scalar()
	}
}

// order is a list with the keys of another's elements, and others.
func (s *source) order(list any) any {
	elements, _ := list.([]any)
	out := []any{}
	for _, element := range elements {
		object, isMap := element.(map[string]any)
		switch {
		case s.next(6) == 1:
		case isMap:
			out = append(out, map[string]any{"name": object["name"]})
		default:
			out = append(out, element)
		}
	}
	if s.next(3) == 1 {
		out = append(out, map[string]any{"name": s.text()})
	}
	return out
}

// FuzzStrategic holds every result to what is promised of all of them, in each mode.
func FuzzStrategic(f *testing.F) {
	f.Add([]byte("0"))
	f.Add([]byte("345634563456345634563456345634563456abcdefghabcdefgh333444333444"))
	// Two mistakes within what is new.
	f.Add([]byte("x29Z8928x920.9Ab72c.0001870270277c00700A200Za11c1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{data: data}
		doc, patch := s.pod(), s.patch()
		mode := []Option{InMode(Mode(s.next(3)))}
		schema := schemaOf(doc)
		if s.next(4) == 1 {
			schema = Schema{}
		}
		docCopy, patchCopy := cloned(t, doc), cloned(t, patch)
		got, err := Strategic(doc, patch, schema, mode...)
		require.Equal(t, docCopy, doc, "the document was changed")
		require.Equal(t, patchCopy, patch, "the patch was changed")
		shared, sharedErr := Strategic(doc, patch, schema, append(mode, Shared())...)
		require.Equal(t, docCopy, doc, "the document was changed, shared")
		require.Equal(t, patchCopy, patch, "the patch was changed, shared")
		if err != nil {
			require.Nil(t, got)
			require.NotEmpty(t, KindOf(err), "%T %v", err, err)
			require.EqualError(t, sharedErr, err.Error(), "shared and detached disagree")
			return
		}
		require.NoError(t, sharedErr)
		require.True(t, document.Equal(got, shared), "shared and detached disagree: %v, %v", shared, got)
		key, found := findDirective(any(got))
		require.False(t, found, "a directive in the result: %s in %v", key, got)
		scribble(got)
		require.Equal(t, docCopy, doc, "the result shares with the document")
		require.Equal(t, patchCopy, patch, "the result shares with the patch")
	})
}
