package operator_test

import (
	"os"
	"path/filepath"
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
	files, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		examples.Write(text)
	}
	compared := 0
	for _, block := range strings.Split(string(readme), "```go\n")[1:] {
		code, _, closed := strings.Cut(block, "\n```")
		require.True(t, closed)
		if strings.HasPrefix(code, "func main()") {
			continue // that of package operator's documentation
		}
		assert.Contains(t, examples.String(), "\t"+strings.ReplaceAll(code, "\n", "\n\t"))
		compared++
	}
	assert.Equal(t, 6, compared)
}
