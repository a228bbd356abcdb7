package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var notCode = regexp.MustCompile(`^\s*(//.*)?$`)

// linesOf counts lines of code as the README's command does.
func linesOf(t *testing.T, files ...string) (count int) {
	t.Helper()
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			if !notCode.MatchString(strings.TrimRight(line, "\n")) {
				count++
			}
		}
	}
	return count
}

func TestReadmeCountsRight(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, parts, found := strings.Cut(string(content), "| part of the controller |")
	require.True(t, found)
	parts, files, found := strings.Cut(parts, "| all written or scaffolded Go")
	require.True(t, found)
	for _, row := range []struct {
		name  string
		files []string
	}{
		{"`memcached.go`", []string{"memcached.go"}},
		{"`api/v1`", []string{"api/v1/types.go", "api/v1/doc.go"}},
		{"`main.go`", []string{"main.go"}},
	} {
		_, line, _ := strings.Cut(files, "| "+row.name)
		line, _, _ = strings.Cut(line, "\n")
		assert.Regexp(t, `\| `+strconv.Itoa(linesOf(t, row.files...))+` \|$`, line, row.name)
	}
	var theirs, ours int
	for _, match := range regexp.MustCompile(`\| (\d+) \| (\d+) \|`).FindAllStringSubmatch(parts, -1) {
		their, err := strconv.Atoi(match[1])
		require.NoError(t, err)
		our, err := strconv.Atoi(match[2])
		require.NoError(t, err)
		theirs, ours = theirs+their, ours+our
	}
	assert.Contains(t, files, "| `memcached.go`, the controller | "+strconv.Itoa(theirs)+" | "+strconv.Itoa(ours)+" |", "the parts are the whole")
}
