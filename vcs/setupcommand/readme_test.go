package setupcommand_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadme: what the README shows is code of an example.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	code, _, _ = strings.Cut(code, "\n```")
	assert.Contains(t, string(examples), "\t"+strings.ReplaceAll(code, "\n", "\n\t"))
}
