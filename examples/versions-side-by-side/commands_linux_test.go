package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs a command of the newest release with all releases in a folder, and wants none of their processes to be
// left.
func call(t *testing.T, directory, stdin string, args ...string) program.Result {
	t.Helper()
	command := exec.Command(filepath.Join(versions(t), "1.1.0", "site-operator"), append(args, "--versions.directory", directory)...)
	command.Stdin = strings.NewReader(stdin)
	result := program.Run(t, command)
	assert.Empty(t, processesIn(t, directory), "%v: its releases end with it", args)
	return result
}

// sample is the one of config/ in some version.
func sample(t *testing.T, version string) string {
	t.Helper()
	text, err := os.ReadFile("config/sample.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), "version: 1.0.0\n")
	return strings.Replace(string(text), "version: 1.0.0\n", "version: "+version+"\n", 1)
}

func TestRenderedByItsVersion(t *testing.T) {
	t.Parallel()
	directory := folder(t, "1.0.0", "1.1.0")
	for _, row := range []struct {
		reason, command, version string
		code                     int
		want, without            []string
	}{
		{"what 1.0.0 makes, though 1.1.0 is asked", "render", "1.0.0", 0, []string{"# page: ConfigMap/home-page", "image: nginx:1.27"}, []string{"Service/"}},
		{"what 1.1.0 makes", "render", "1.1.0", 0, []string{"# content: ConfigMap/home-content", "image: nginx:1.29", "# door: Service/home", "port: 8080"}, []string{"page"}},
		{"the graph of 1.0.0", "graph", "1.0.0", 0, []string{"server      page"}, []string{"door"}},
		{"the graph of 1.1.0", "graph", "1.1.0", 0, []string{"server      content", "door        server"}, []string{"page"}},
		{"a version that there isn't", "render", "1.2.0", 1, []string{`there is no version "1.2.0": choose one of 1.0.0, 1.1.0`}, nil},
		{"no version", "graph", `""`, 1, []string{"it names no version: choose one of 1.0.0, 1.1.0"}, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			result := call(t, directory, sample(t, row.version), row.command, "-f", "-")
			assert.Equal(t, row.code, result.Code, result.Stderr)
			for _, want := range row.want {
				assert.Contains(t, result.Output(), want)
			}
			for _, without := range row.without {
				assert.NotContains(t, result.Stdout, without)
			}
		})
	}
	for release := range releases {
		result := program.Run(t, exec.Command(filepath.Join(directory, release, "site-operator"), "version"))
		require.Zero(t, result.Code, result.Stderr)
		assert.Contains(t, result.Stdout, release+"\n", "each says which it is")
	}
}

func TestFoldersThatAreNoVersions(t *testing.T) {
	t.Parallel()
	good, broken := folder(t, "1.0.0", "1.1.0"), folder(t, "1.0.0", "1.1.0")
	require.NoError(t, os.Mkdir(filepath.Join(good, "1.2.0"), 0o755)) // an image that is half made
	require.NoError(t, os.Mkdir(filepath.Join(broken, "1.2.0"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(broken, "1.2.0", "site-operator"), []byte("#!/bin/sh\necho no operator >&2\nexit 3\n"), 0o755))
	for _, row := range []struct {
		reason, directory string
		code              int
		want              string
	}{
		{"a folder without the program is none", good, 0, "home-page"},
		{"a program that is no release", broken, 1, "version 1.2.0: its process has ended: exit status 3: no operator"},
		{"a folder without versions", filepath.Join(good, "1.2.0"), 1, "has no version: a version is a folder with the program site-operator"},
		{"no folder", filepath.Join(good, "1.3.0"), 1, "no such file or directory"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			result := call(t, row.directory, sample(t, "1.0.0"), "render", "-f", "-")
			assert.Equal(t, row.code, result.Code, result.Stderr)
			assert.Contains(t, result.Output(), row.want)
		})
	}
}

// Commands on a cluster have a site made by its version, as the operator that runs would.
func TestByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	directory := folder(t, "1.0.0", "1.1.0")
	// Who calls has rights of their own: a diff of a file asks for the right to write what the file says.
	somebody := w.Kubeconfig(t, w.Self)
	operator := func(want int, args ...string) string {
		result := call(t, directory, "", append(args, "--kubeconfig", somebody, "-n", w.Namespace)...)
		require.Equal(t, want, result.Code, "%v: %s", args, result.Output())
		return result.Stdout
	}
	settled := func(version string) {
		w.Eventually("home is in "+version, func() bool {
			operator(0, "reconcile", "home")
			return isIn(w.Get(sites, "home"), version)
		})
	}
	w.create("home", "1.0.0")
	created := operator(0, "reconcile", "home")
	assert.Contains(t, created, fmt.Sprintf("page: ConfigMap %s/home-page created\n", w.Namespace))
	assert.NotContains(t, created, "Service ")
	settled("1.0.0")
	assert.Empty(t, operator(0, "diff", "home"), "all is as 1.0.0 has it")

	before := w.objects("home")
	path := filepath.Join(t.TempDir(), "home.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(sample(t, "1.1.0"), "namespace: default", "namespace: "+w.Namespace, 1)), 0o600))
	difference := operator(1, "diff", "-f", path, "--open-gates")
	for _, want := range []string{"home-content", "home-page", "Service", "nginx:1.29"} {
		assert.Contains(t, difference, want, "what the upgrade would change")
	}
	assert.Equal(t, before, w.objects("home"), "nothing has")

	w.upgrade("home", "1.1.0")
	settled("1.1.0")
	assert.ElementsMatch(t, wanted("home", "1.1.0"), names(w.objects("home")))
	assert.Regexp(t, `door +server +verified`, operator(0, "graph", "home"))
	assert.Regexp(t, `(?m)^home +True +Stable +3/3`, operator(0, "status"))
	w.upgrade("home", "1.2.0")
	refused := call(t, directory, "", "reconcile", "home", "--kubeconfig", somebody, "-n", w.Namespace)
	assert.Equal(t, 1, refused.Code)
	assert.Contains(t, refused.Stderr, `there is no version "1.2.0": choose one of 1.0.0, 1.1.0`)
}

func TestReleasesEndWithTheirManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	directory := folder(t, "1.0.0", "1.1.0")
	m := w.run(directory)
	w.create("home", "1.0.0")
	w.settled("1.0.0")
	require.Len(t, processesIn(t, directory), 2)
	m.Kill()
	w.Eventually("nothing is left of a manager that was killed", func() bool { return len(processesIn(t, directory)) == 0 })
	w.run(directory)
	w.upgrade("home", "1.1.0")
	w.settled("1.1.0")
}
