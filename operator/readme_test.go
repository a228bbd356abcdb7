package operator_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadme: what the README shows of options is code of the examples.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	compared := 0
	for _, block := range strings.Split(string(readme), "```go\n")[1:] {
		code, _, closed := strings.Cut(block, "\n```")
		require.True(t, closed)
		if strings.HasPrefix(code, "func main()") {
			continue // that of package operator's documentation
		}
		assert.Contains(t, string(examples), "\t"+strings.ReplaceAll(code, "\n", "\n\t"))
		compared++
	}
	assert.Equal(t, 3, compared)
}
