package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/tools/envtest/devcluster"
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

// The README says how somebody gets to a first operator: word by word, with the clone replaced by this one, and the building of the cluster
// by the one that is built.
func TestYourFirstOperator(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "## Your first operator\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var script strings.Builder
	for _, block := range strings.Split(section, "```sh\n")[1:] {
		lines, _, closed := strings.Cut(block, "```")
		require.True(t, closed)
		script.WriteString(lines)
	}
	const clone, build = "git clone https://github.com/operkit/operkit\n", "(cd operkit/tools/devcluster && set -a && . ./build.env && go build -o ../../../devcluster .)\n"
	commands, found := strings.CutPrefix(script.String(), clone+build)
	require.True(t, found, "the README's first lines are those that are replaced")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	cluster, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(root, filepath.Join(dir, "operkit")))
	require.NoError(t, os.Symlink(cluster, filepath.Join(dir, "devcluster")))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-e")
	// A script that fails leaves the operator behind, which has the output open: all of it ends together.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = 5 * time.Second
	shell.Dir = dir
	shell.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=-buildvcs=false", "KUBECONFIG=", "OPERKIT_DEVCLUSTER="+filepath.Join(dir, "cluster"))
	shell.Stdin = strings.NewReader(commands)
	t.Cleanup(func() { // what a failed script leaves
		down := exec.Command(cluster, "down", "--dir", filepath.Join(dir, "cluster"))
		output, err := down.CombinedOutput()
		assert.NoError(t, err, string(output))
	})
	output, err := shell.CombinedOutput()
	_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
	require.NoError(t, err, string(output))
	for _, want := range []string{
		"# text: ConfigMap/world", "hello.examples.operkit.dev/world condition met", "configmap/world condition met", "nothing to do",
		`hello.examples.operkit.dev "world" deleted`,
	} {
		assert.Contains(t, string(output), want)
	}
	assert.Regexp(t, `(?m)^world +True +Stable +2/2`, string(output))
	assert.Regexp(t, `(?m)^door +text +verified`, string(output))
}
