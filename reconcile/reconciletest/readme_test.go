package reconciletest_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the README shows is compiled: it stands in an example.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var examples []byte
	for _, file := range []string{"example_test.go", "example_drive_test.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples = append(examples, text...)
	}
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, pieces, 3)
	for _, piece := range pieces {
		assert.Contains(t, string(examples), piece[1])
	}
}
