package deploy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadme checks that the snippet of the README is the code of Example, and what it is
// said to print the output.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(readme), "```")
	require.Len(t, blocks, 5)
	indented := func(text, prefix string) string {
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				line = prefix + line
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	assert.Contains(t, string(example), indented(strings.TrimPrefix(blocks[1], "go\n"), "\t"))
	assert.Contains(t, string(example), indented(strings.TrimPrefix(blocks[3], "\n"), "\t// "))
}
