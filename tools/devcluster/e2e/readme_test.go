package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeIsComplete: README.md names every command and every flag that the program has.
func TestReadmeIsComplete(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	readme := string(raw)
	_, help, _ := devcluster(t, "--help")
	commands := regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllStringSubmatch(help, -1)
	require.Greater(t, len(commands), 7, help)
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	for _, command := range commands {
		if command[1] == "help" {
			continue
		}
		assert.Regexp(t, "(?m)^\\| `"+command[1]+"[ `]", readme, "the table of commands")
		_, help, _ := devcluster(t, "help", command[1])
		for _, flag := range flag.FindAllStringSubmatch(help, -1) {
			if flag[1] != "--help" && flag[1] != "--output" {
				assert.True(t, strings.Contains(readme, flag[1]), "%s of %s", flag[1], command[1])
			}
		}
	}
}

// TestReadmeBuild: the variables of build.env are what the README says a shell makes of them.
func TestReadmeBuild(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runProgram(t, "/bin/sh", []string{"GOFLAGS="}, "-c", `set -a; . ../build.env; env`)
	require.Zero(t, code, stderr)
	variables, err := buildVariables()
	require.NoError(t, err)
	require.Len(t, variables, 3)
	for _, variable := range variables {
		assert.Contains(t, "\n"+stdout, "\n"+variable+"\n")
	}
}
