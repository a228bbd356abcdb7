package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/require"
)

// TestReadme runs the commands of the README on a cluster of its own: each line has to print, after a while, what its
// comment says, and the lines of the last block have to fail.
func TestReadme(t *testing.T) {
	t.Parallel()
	w := walk{t: t, dir: programs(t, envtest.Start(t, envtest.OwnCluster()))}
	blocks := blocks(t)
	require.Len(t, blocks, 3)
	require.Len(t, blocks[0], 2)
	w.line(blocks[0][0], false)
	program.Start(t, w.shell(blocks[0][1]))
	for _, line := range blocks[1] {
		w.line(line, false)
	}
	for _, line := range blocks[2] {
		w.line(line, true)
	}
}

// blocks are the lines of each block of commands.
func blocks(t *testing.T) (blocks [][]string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, part := range strings.Split(string(readme), "```sh\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, strings.Split(block, "\n"))
	}
	return blocks
}

// programs makes kubectl that of the cluster, and `go run ./examples/shop` this very program, and returns where.
func programs(t *testing.T, env *envtest.Env) string {
	t.Helper()
	binary, err := devcluster.Binary(t.Context(), nil)
	require.NoError(t, err)
	dir := t.TempDir()
	for name, script := range map[string]string{
		"kubectl": fmt.Sprintf("exec '%s' kubectl --dir '%s' \"$@\"\n", binary, env.Dir),
		"go": fmt.Sprintf("[ \"$1 $2\" = 'run ./examples/shop' ] && shift 2 && KUBECONFIG='%s' exec '%s' \"$@\"\n",
			filepath.Join(env.Dir, "kubeconfig"), program.Command().Path),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700))
	}
	return dir
}

type walk struct {
	t   *testing.T
	dir string
}

func (w walk) shell(line string) *exec.Cmd {
	shell := exec.CommandContext(w.t.Context(), "sh", "-c", "exec "+line)
	shell.Dir = filepath.Join("..", "..")
	shell.Env = append(os.Environ(), "PATH="+w.dir+":"+os.Getenv("PATH"))
	return shell
}

// line runs a line until it prints what its comment says, and succeeds or fails.
func (w walk) line(line string, fails bool) {
	w.t.Helper()
	command, want, _ := strings.Cut(line, " # ")
	for deadline := time.Now().Add(bystander.Patience); ; time.Sleep(50 * time.Millisecond) {
		result := program.Run(w.t, w.shell(command))
		if (result.Code != 0) == fails && strings.Contains(result.Output(), want) {
			return
		}
		require.True(w.t, time.Now().Before(deadline), "%s\n%s\nexit code %d", line, result.Output(), result.Code)
	}
}
