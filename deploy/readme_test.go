package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The snippets of the README are code of the examples, and what they are said to print is their output.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	files, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples.Write(text)
	}
	blocks := strings.Split(string(readme), "```")
	require.Len(t, blocks, 11)
	for i := 1; i < len(blocks); i += 2 {
		code, isCode := strings.CutPrefix(blocks[i], "go\n")
		prefix := "\t// "
		if isCode {
			prefix = "\t"
		}
		code = indented(strings.Trim(code, "\n"), prefix)
		assert.True(t, strings.Contains(examples.String(), code), "no example has\n%s", code)
	}
}

func indented(text, prefix string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			line = prefix + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
