package templates

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a template says, it gives objects or an error that names the file, and twice the same.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		config("  x: {{ .Name }}"), config("{{ range until 2 }}  k{{ . }}: {{ include \"labels\" $ | quote }}\n{{ end }}"), "a: b: c", "--- {a: b}\n...\n- 1",
		"{{- with .Spec }}{{ toYaml . | nindent 2 }}{{ end }}", "apiVersion: v1\nkind: List\nitems: [{}, 1, {kind: List, items: []}]",
		"kind: Secret\nx: *{{ .Values.password }}", "\ufeffa: &a [*a]", "{{ keys .Spec }}{{ seq 1 2 9 }}", "a: {{ merge .Spec .Config | toJson }}", "a: {{ merge .Spec . }}{{ set .Config \"x\" .Spec }}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if slow(text) {
			return
		}
		parsed, err := Parse(folder(map[string]string{"a.yaml": text, "helpers.tpl": helpers}), ".")
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		first, err := parsed.Render(".", tea)
		if err != nil {
			var place *Error
			require.ErrorAs(t, err, &place)
			require.NotEmpty(t, place.File)
			require.Nil(t, first)
			return
		}
		for _, object := range first {
			require.NoError(t, check(object))
		}
		second, err := parsed.Render(".", tea)
		require.NoError(t, err)
		require.Equal(t, first, second)
	})
}

// slow are templates that take their time, as an author may want it: loops without end.
func slow(text string) bool {

	return strings.Contains(text, "range") && strings.ContainsAny(text, "3456789")
}
