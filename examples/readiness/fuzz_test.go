package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever stands in a file, the command ends with a verdict about each object, or with one line that says why not.
func FuzzInput(f *testing.F) {
	for _, text := range []string{
		"apiVersion: v1\nkind: Pod\n---\n{apiVersion: v1, kind: Secret}\n...\n", "%YAML 1.1\n--- # a\n", "\ufeff{\"a\":1}{\"b\":[]} c",
		`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}},{}]}`, "a: &a [*a]\n", "---\n...\n---", "kind: List\nitems: {}\napiVersion: 1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var stdout, stderr strings.Builder
		code := run([]string{"-"}, func() time.Time { return noon }, strings.NewReader(text), &stdout, &stderr)
		if code == exitInput {
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			assert.Empty(t, stdout.String())
			return
		}
		objects, err := parse(text)
		require.NoError(t, err)
		assert.Equal(t, len(objects)+1, strings.Count(stdout.String(), "\n"), "a head and a row for each object")
		assert.Empty(t, stderr.String())

		again, err := parse(text + "\n---\n" + "{apiVersion: v1, kind: Secret}")
		require.NoError(t, err)
		assert.Len(t, again, len(objects)+1, "what follows a marker is a document of its own")
	})
}
