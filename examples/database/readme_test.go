package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var notCode = regexp.MustCompile(`^\s*(//.*)?$`)

func TestDatabaseIsAsShortAsTheReadmeSays(t *testing.T) {
	t.Parallel()
	lines := 0
	for _, file := range []string{"main.go", "controller.go", "server.go", "schema.go", "dumps.go", "api/v1/doc.go", "api/v1/types.go"} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			if !notCode.MatchString(strings.TrimSuffix(line, "\n")) {
				lines++
			}
		}
	}
	t.Logf("%d lines", lines)
	assert.Less(t, lines, 350)
}
