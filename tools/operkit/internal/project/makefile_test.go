package project_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// `make help` lists all targets, and fits into a terminal.
func TestMakefile(t *testing.T) {
	t.Parallel()
	makefile := rendered(t)["Makefile"]
	listed := map[string]string{}
	for _, target := range regexp.MustCompile(`(?m)^([a-z-]+):.*## (.*)$`).FindAllStringSubmatch(makefile, -1) {
		listed[target[1]] = target[2]
		assert.LessOrEqual(t, len("  make ")+13+1+len(target[2]), 80, target[0])
	}
	targets := regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(makefile, -1)
	assert.Len(t, targets, len(listed), "each has a description")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(makefile)
	require.NotNil(t, phony)
	assert.Len(t, strings.Fields(phony[1]), len(listed))
	for target := range strings.FieldsSeq(phony[1]) {
		assert.Contains(t, listed, target)
	}
	for _, file := range []string{"README.md", "AGENTS.md", ".github/workflows/ci.yaml"} {
		for _, call := range regexp.MustCompile(`\bmake ([a-z-]+)`).FindAllStringSubmatch(rendered(t)[file], -1) {
			assert.Contains(t, listed, call[1], "%s: %s", file, call[0])
		}
	}
}
