package ansibletest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// bench runs playbooks.
type bench struct {
	runner *playbook.Runner
	// dir is the folder of the playbooks.
	dir string
	// in is what is run: Input.Entry lacks the playbook.
	in playbook.Input
}

// newBench returns a bench. The Config lacks the folder.
func newBench(t *testing.T, config playbook.Config) *bench {
	t.Helper()
	config.Folder = t.TempDir()
	runner, err := playbook.New(config)
	require.NoError(t, err)
	return &bench{runner, t.TempDir(), playbook.Input{
		Entry: &watches.Entry{
			Kind: schema.GroupVersionKind{Group: "cache.example.com", Version: "v1", Kind: "Memcached"}, SnakeCaseParameters: true,
		},
		Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cache.example.com/v1", "kind": "Memcached",
			"metadata": map[string]any{"name": "sample", "namespace": "default"}, "spec": map[string]any{},
		}},
		MaxArtifacts: 3,
	}}
}

// write writes a file beside the playbook.
func (b *bench) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// run runs a playbook, or what the entry has if the text is empty.
func (b *bench) run(t *testing.T, text string) (*playbook.Result, error) {
	t.Helper()
	if text != "" {
		b.in.Entry.Playbook = b.write(t, "playbook.yml", text)
	}
	return b.runner.Run(t.Context(), b.in)
}

// tasks returns a playbook with tasks, each line indented by two spaces.
func tasks(text string) string {
	return "- hosts: localhost\n  gather_facts: false\n  tasks:\n" + text
}

// output returns what a run has written.
func output(t *testing.T, artifacts string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(artifacts, "output"))
	require.NoError(t, err)
	return string(text)
}

// stop asserts that a playbook was not run to its end, and returns why.
func stop(t *testing.T, err error) *playbook.RunError {
	t.Helper()
	var e *playbook.RunError
	require.ErrorAs(t, err, &e)
	return e
}
