package fieldpath

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, path string
		want         []string
	}{
		{"handlers 91: keys with dots between them", "spec.size", []string{"spec", "size"}},
		{"handlers 91: one key", "spec", []string{"spec"}},
		{"handlers 91: a key with a dot and a slash", "metadata.annotations['example.dev/a']", []string{"metadata", "annotations", "example.dev/a"}},
		{"handlers 91: a key with a dot in the middle", "data['ca.crt'].sum", []string{"data", "ca.crt", "sum"}},
		{"handlers 91: two such keys in a row", "data['a.b']['c.d']", []string{"data", "a.b", "c.d"}},
		{"handlers 91: such a key at the beginning", "['a.b'].c", []string{"a.b", "c"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			keys, err := Parse(row.path)
			assert.NoError(t, err)
			assert.Equal(t, row.want, keys)
			assert.Equal(t, row.path, String(keys))
		})
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, path, want string }{
		{"handlers 91: an empty path", "", `field "": a key is empty`},
		{"handlers 91: an empty key", "spec..size", "a key is empty"},
		{"handlers 91: a dot at the end", "spec.", "a key is empty"},
		{"handlers 91: a dot at the beginning", ".spec", "a key is empty"},
		{"handlers 91: a key with a slash that was split by its dots", "metadata.annotations.example.dev/a", `the key "dev/a" needs brackets`},
		{"handlers 91: a field inside of a label", "metadata.labels.app.kubernetes.io", "use metadata.labels['app.kubernetes.io']"},
		{"handlers 91: an element of a list", "spec.ports[0]", "lists are compared as a whole"},
		{"handlers 91: a key without quotes", "metadata.labels[tier]", "need single quotes"},
		{"handlers 91: a bracket without an end", "metadata.labels['tier", "isn't complete"},
		{"handlers 91: an empty key in brackets", "metadata.labels['']", "isn't complete"},
		{"handlers 91: no dot after a bracket", "data['a.b']c", "put a dot before the next key"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			keys, err := Parse(row.path)
			assert.Nil(t, keys)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	spec, size := []string{"spec"}, []string{"spec", "size"}
	assert.True(t, Within(size, spec))
	assert.True(t, Within(size, size))
	assert.False(t, Within(spec, size))
	assert.False(t, Within(size, []string{"status"}))
}

// FuzzParse checks that a path that is accepted has no empty key, and is written as it can be read.
func FuzzParse(f *testing.F) {
	f.Add("metadata.annotations['example.dev/a'].b")
	f.Fuzz(func(t *testing.T, path string) {
		keys, err := Parse(path)
		if err != nil {
			return
		}
		assert.NotContains(t, keys, "")
		again, err := Parse(String(keys))
		assert.NoError(t, err)
		assert.Equal(t, keys, again)
	})
}
