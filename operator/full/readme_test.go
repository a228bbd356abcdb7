package full_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README's main is the one of the package's comment, which is that of the example.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	code, _, _ = strings.Cut(code, "```")
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	for line := range strings.Lines(code) {
		// The call of Main ends the program.
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "op") {
			assert.Contains(t, string(example), line)
		}
	}
}
