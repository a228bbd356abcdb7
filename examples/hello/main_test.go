package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// The README says how a module of one's own uses operkit before a release: word by word,
// with the clone replaced by this one.
func TestUsedFromOutside(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, script, found := strings.Cut(string(readme), "```sh\ngit clone https://github.com/operkit/operkit\n")
	require.True(t, found, "the README has the lines to paste")
	script, _, _ = strings.Cut(script, "```")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(root, filepath.Join(dir, "operkit")))
	shell := exec.Command("sh", "-e")
	shell.Dir = dir
	shell.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=-buildvcs=false")
	shell.Stdin = strings.NewReader(script + "cp ../operkit/examples/hello/main.go . && go build -o hello . && ./hello --help\n")
	output, err := shell.CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Contains(t, string(output), "Kubernetes operator for Hello")
}
