package command_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/command"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// requirements are those of a program that was released.
const requirements = `module github.com/operkit/operkit/tools/operkit

go 1.26.0

require (
	github.com/operkit/operkit/operator/full v0.3.0
	github.com/operkit/operkit/tools/envtest v0.2.0
	sigs.k8s.io/controller-tools v0.23.0
)
`

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

func execute(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Execute(t.Context(), []byte(requirements), args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// done executes a command that succeeds, and returns what it said.
func done(t *testing.T, args ...string) string {
	t.Helper()
	r := execute(t, args...)
	require.Equal(t, 0, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	return r.stdout
}

// operator is a new operator, whose modules nobody has fetched.
func operator(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "guestbook-operator")
	done(t, "init", "guestbook-operator", "--kind", "Guestbook", "--group", "example.com", "--dir", dir, "--no-tidy")
	return dir
}

// read is the text of a file below dir.
func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

// write gives a file below dir another text.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// edit replaces text in a file below dir.
func edit(t *testing.T, dir, name, before, after string) {
	t.Helper()
	text := read(t, dir, name)
	require.Contains(t, text, before)
	write(t, dir, name, strings.Replace(text, before, after, 1))
}

// tree are the files below dir by their names.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = read(t, dir, name)
		return err
	}))
	return files
}

// isGo fails the test unless all Go files below dir are formatted Go.
func isGo(t *testing.T, dir string) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "gofmt", "-l", dir).CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Empty(t, string(output))
}
