package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBadInput: one clear error that names its subject, and nothing started.
func TestBadInput(t *testing.T) {
	t.Parallel()
	occupied := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(occupied, "thesis.tex"), nil, 0o600))
	broken := crds(t, widgets, "a: b: c")
	for _, row := range []struct {
		reason, arguments, err string
	}{
		{"unknown component", "up --components etcd,apiserver,kubelet", `component "kubelet" is unknown: choose from etcd,apiserver,controller-manager,scheduler,kwok`},
		{"a component without what it needs", "up --components etcd,kwok", "components etcd,kwok: apiserver is missing, every cluster needs etcd and apiserver"},
		{"unknown feature gate", "up --feature-gates NoSuchGate=true", "feature gates NoSuchGate=true: unrecognized feature gate: NoSuchGate"},
		{"a gate that cannot be changed any more", "up --feature-gates APIServerTracing=false", "cannot set feature gate APIServerTracing to false, feature is locked to true"},
		{"a gate without a value", "up --feature-gates ContextualLogging", "feature gates ContextualLogging: missing bool value for ContextualLogging"},
		{"someone else's directory", "up --dir " + occupied, "cluster directory " + occupied + " holds other files (such as thesis.tex): give an empty one or one that devcluster made"},
		{"a file in the directory's place", "up --dir " + filepath.Join(occupied, "thesis.tex"), "cannot be made: "},
		{"a definition that is not YAML", "up --crds " + broken, "CRD file " + filepath.Join(broken, "b.yaml") + ": document 1: "},
		{"no definitions at all", "up --crds " + occupied, "CRDs: " + occupied + " holds no CustomResourceDefinition"},
		{"no cluster to talk to", "kubectl get pods --dir " + occupied, "no cluster runs in "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := runProgram(t, binary, []string{"OPERKIT_DEVCLUSTER=" + filepath.Join(t.TempDir(), "default")}, strings.Fields(row.arguments)...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, row.err)
			assert.Equal(t, 1, strings.Count(stderr, "devcluster: "), stderr)
		})
	}
}

// TestRefusedDefinition: what only the API server can find wrong ends the start and names the file.
func TestRefusedDefinition(t *testing.T) {
	t.Parallel()
	refused := crds(t, widgets, strings.ReplaceAll(strings.Replace(widgets, "scope: Namespaced", "scope: Somewhere", 1), "widget", "gadget"))
	dir := filepath.Join(t.TempDir(), "cluster")
	code, _, stderr := devcluster(t, "up", "--dir", dir, "--crds", refused)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "devcluster: CRD gadgets.example.dev of "+filepath.Join(refused, "b.yaml")+": ")
	assert.Contains(t, stderr, `spec.scope: Unsupported value: "Somewhere"`)
	assert.NotContains(t, stderr, "a.yaml")
}

func TestDirectoryWithoutRights(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "e2e-") //nolint:usetesting // the way to t.TempDir is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	require.NoError(t, os.Chmod(parent, 0o755))
	for _, row := range []struct {
		reason string
		mode   os.FileMode
		path   string
		err    string
	}{
		{"it can be neither read nor written", 0o000, "closed", "cannot be read: "},
		{"it can only be read", 0o555, "readonly", "cannot be written: "},
		{"it would have to be made where nothing can be made", 0o555, "parent/cluster", "cannot be made: "},
	} {
		dir := filepath.Join(parent, strings.Split(row.path, "/")[0])
		require.NoError(t, os.Mkdir(dir, row.mode))
		require.NoError(t, os.Chmod(dir, row.mode))
		p := start(t, asNobody(t, parent), "up", "--dir", filepath.Join(parent, row.path))
		assert.Equal(t, 1, p.wait(patience), row.reason)
		assert.Equal(t, 1, strings.Count(p.stderr.String(), "\n"), p.stderr.String())
		assert.Contains(t, p.stderr.String(), "devcluster: cluster directory "+filepath.Join(parent, row.path)+" "+row.err)
		assert.Contains(t, p.stderr.String(), "permission denied")
	}
}

// asNobody runs the program as a user without rights where the test itself may do everything: from a
// copy below dir, for the way to the program may be closed to others too.
func asNobody(t *testing.T, dir string) func(*exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	program := filepath.Join(dir, "devcluster")
	if _, err := os.Stat(program); os.IsNotExist(err) {
		content, err := os.ReadFile(binary)
		require.NoError(t, err)
		syscall.ForkLock.RLock() // a process forked while a program is written makes it "text file busy"
		err = os.WriteFile(program, content, 0o755)
		syscall.ForkLock.RUnlock()
		require.NoError(t, err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Path = program
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
