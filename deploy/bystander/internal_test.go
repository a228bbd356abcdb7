package bystander

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read is one object, which reads the same when it is written as JSON.
func FuzzParse(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: 1, m: 1.5}\n"))
	f.Add([]byte("# nothing\n---\nkind: A\n---\n# nothing\n"))
	f.Add([]byte("kind: A\n---\nkind: B\n"))
	f.Add([]byte(`{"kind":"A","kind":"B"}`))
	f.Add([]byte("---\r\nkind: [\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		obj, err := parse(text)
		if err != nil {
			assert.Nil(t, obj)
			return
		}
		assert.NotEmpty(t, obj.GetKind())
		content, err := obj.MarshalJSON()
		require.NoError(t, err)
		again, err := parse(content)
		require.NoError(t, err)
		assert.Equal(t, obj, again)
	})
}
