package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// workshop is a folder for what all tests use.
var workshop string

func TestMain(m *testing.M) {
	var err error
	if workshop, err = os.MkdirTemp("", "versions-side-by-side-"); err != nil {
		panic(err)
	}
	// The shared control plane of envtest ends with the process.
	code := m.Run()
	_ = os.RemoveAll(workshop)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// built are the releases as the README builds them, once: a folder with one folder for each.
var built = sync.OnceValues(func() (directory string, err error) {
	blocks, err := fences()
	if err != nil {
		return "", err
	}
	shell := exec.Command("sh", "-e", "-c", blocks[0]+"\necho \"$VERSIONS\"")
	shell.Dir = root
	flags := os.Getenv("GOFLAGS")
	shell.Env = append(os.Environ(), "TMPDIR="+workshop, "GOFLAGS=-buildvcs=false -trimpath "+flags)
	if !strings.Contains(flags, "-race") { // with it, the releases look for races, too, and need C
		shell.Env = append(shell.Env, "CGO_ENABLED=0")
	}
	shell.Stderr = os.Stderr
	out, err := shell.Output()
	return strings.TrimSpace(string(out)), err
})

// root is where the README's commands are given.
var root = filepath.Join("..", "..")

// versions is the folder with the releases.
func versions(t *testing.T) string {
	t.Helper()
	directory, err := built()
	require.NoError(t, err)
	require.Equal(t, workshop, filepath.Dir(directory), "the README's first block makes the folder and builds into it")
	return directory
}

// folder is one of a test alone with some releases.
func folder(t *testing.T, releases ...string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	for _, release := range releases {
		require.NoError(t, os.Mkdir(filepath.Join(directory, release), 0o755))
		require.NoError(t, os.Link(filepath.Join(versions(t), release, "site-operator"), filepath.Join(directory, release, "site-operator")))
	}
	return directory
}

// fences are the blocks of commands in the README.
func fences() (blocks []string, err error) {
	readme, err := os.ReadFile("README.md")
	for _, part := range strings.Split(string(readme), "```sh\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block)
	}
	return blocks, err
}
