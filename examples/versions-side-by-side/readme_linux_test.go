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

// TestReadme walks through the README word by word on a cluster of its own, with the releases that its first block has
// built: each line has to succeed, and to print, after a while, what its comment says.
func TestReadme(t *testing.T) {
	t.Parallel()
	w := newWalk(t, envtest.Start(t, envtest.OwnCluster()))
	blocks, err := fences()
	require.NoError(t, err)
	require.Len(t, blocks, 4)
	w.lines(blocks[1])
	install, run, _ := strings.Cut(blocks[2], "\n")
	w.lines(install)
	w.operator(run)
	w.lines(blocks[3])
}

type walk struct {
	t           *testing.T
	environment []string
}

// newWalk makes kubectl, and whatever asks for the cluster of the user, that of the test.
func newWalk(t *testing.T, env *envtest.Env) walk {
	t.Helper()
	binary, err := devcluster.Binary(t.Context(), nil)
	require.NoError(t, err)
	dir := t.TempDir()
	kubectl := fmt.Sprintf("#!/bin/sh\nexec '%s' kubectl --dir '%s' \"$@\"\n", binary, env.Dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o700))
	return walk{t, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "KUBECONFIG="+filepath.Join(env.Dir, "kubeconfig"), "VERSIONS="+versions(t))}
}

func (w walk) shell(script string) *exec.Cmd {
	shell := exec.CommandContext(w.t.Context(), "sh", "-c", script)
	shell.Dir, shell.Env = root, w.environment
	return shell
}

// operator runs a command until the test ends.
func (w walk) operator(line string) {
	w.t.Helper()
	program.Start(w.t, w.shell("exec "+line))
}

func (w walk) lines(block string) {
	w.t.Helper()
	for line := range strings.Lines(block) {
		w.line(strings.TrimSpace(line))
	}
}

// line runs a line until it succeeds and prints what it is to print.
func (w walk) line(line string) {
	w.t.Helper()
	command, want, _ := strings.Cut(line, " # ")
	for deadline := time.Now().Add(bystander.Patience); ; time.Sleep(50 * time.Millisecond) {
		result := program.Run(w.t, w.shell(command))
		if result.Code == 0 && strings.Contains(result.Stdout, want) {
			w.t.Logf("$ %s\n%s", command, result.Stdout)
			return
		}
		require.True(w.t, time.Now().Before(deadline), "%s\n%s\nexit code %d", line, result.Output(), result.Code)
		require.True(w.t, result.Code == 0 || want != "", "%s\n%s\nexit code %d", line, result.Stderr, result.Code)
	}
}
