package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadmeShowsThisProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(program), "package main")
	assert.Contains(t, string(readme), "```go\npackage main"+code+"```", "the README's operator is this one")
}

func TestRendered(t *testing.T) {
	t.Parallel()
	op := operator.New("hello-operator")
	op.Control(Hello{})
	var out, log bytes.Buffer
	require.Zero(t, op.Execute(t.Context(), []string{"run", "--dry-run", "--cr", "config/sample.yaml"}, &out, &log), log.String())
	text, door, found := strings.Cut(out.String(), "# door: Service/world")
	require.True(t, found, out.String())
	assert.Contains(t, text, "# text: ConfigMap/world")
	assert.Contains(t, text, "hello: world")
	assert.Contains(t, door, "port: 80")
}
