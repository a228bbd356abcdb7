package reconcile

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the README shows is compiled: each of its pieces of Go stands in an example.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var examples strings.Builder
	for _, name := range []string{"example_test.go", "example_sources_test.go", "watch/example_test.go"} {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		examples.Write(content)
	}
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, pieces, 4)
	for _, piece := range pieces {
		assert.Contains(t, examples.String(), piece[1])
	}
}
