package operator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestDryRunPrintsInOrderOfTheRollout(t *testing.T) {
	t.Parallel()
	code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, sample))
	require.Zero(t, code, log)
	assert.Equal(t, `---
# first: ConfigMap/first
apiVersion: v1
data:
  of: first
kind: ConfigMap
metadata:
  name: first
  namespace: shop
---
# second: ConfigMap/second
apiVersion: v1
data:
  of: second
kind: ConfigMap
metadata:
  name: second
  namespace: shop
`, out, "no owner, uid or anything else that only a cluster knows")
}

func TestDryRunOfSeveralDocuments(t *testing.T) {
	t.Parallel()
	second := strings.Replace(strings.Replace(sample, "name: sample", "name: other", 1), ", namespace: shop", "", 1)
	code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, "---\n"+sample+"---\n# nothing here\n---\n"+second))
	require.Zero(t, code, log)
	assert.Equal(t, 2, strings.Count(out, "# first: ConfigMap/first"))
	assert.Equal(t, 2, strings.Count(out, "namespace: default"), "spec operator 6: a missing namespace is default")
}

func TestDryRunWritesFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "for this")
	code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, sample), "--output-dir", dir)
	require.Zero(t, code, log)
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	want := []string{
		filepath.Join(dir, "example.com.v1.widget", "shop", "sample", "first", "sample-first.k8s.yaml"),
		filepath.Join(dir, "example.com.v1.widget", "shop", "sample", "second", "sample-second.k8s.yaml"),
	}
	assert.Equal(t, want, files)
	assert.Equal(t, strings.Join(want, "\n")+"\n", out, "it says what it wrote")
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(content), "---\n# first: ConfigMap/first\n"))
	var parsed map[string]any
	require.NoError(t, yaml.Unmarshal(content, &parsed))
}

func TestDryRunMistakes(t *testing.T) {
	t.Parallel()
	mistake := func(name string) string { return strings.Replace(sample, "spec: {}", "spec: {mistake: "+name+"}", 1) }
	for _, row := range []struct {
		reason  string
		content string
		code    int
		want    string
	}{
		{"not YAML", "a: b: c", 2, "document 1: invalid YAML"},
		{"no object", "just text", 2, "document 1: not a Kubernetes object"},
		{"a list", "[1, 2]", 2, "document 1: not a Kubernetes object"},
		{"nothing", "---\n---\n", 2, "holds no resource"},
		{"the second document is bad", sample + "---\nkind: Widget\n", 2, "document 2: not a Kubernetes object"},
		{"no name", "apiVersion: example.com/v1\nkind: Widget\n", 2, "Widget: metadata.name is missing"},
		{"another kind", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", 2, "v1 ConfigMap: this operator controls only the kinds example.com/v1 Widget"},
		{"another version", strings.Replace(sample, "example.com/v1", "example.com/v2", 1), 2, "example.com/v2 Widget: this operator controls only the kinds"},
		{"a spec that doesn't fit", strings.Replace(sample, "spec: {}", "spec: {mistake: [1]}", 1), 1, "Widget shop/sample: spec.mistake: array doesn't fit the type string"},
		{"Setup fails", mistake("error"), 1, "setup: the moon is in the wrong phase"},
		{"a panic", mistake("panic"), 1, "setup: panic: out of cheese"},
		{"waiting for what doesn't come without a cluster", mistake("waiting"), 1, "setup: the tide isn't in"},
		{"a cycle", mistake("cycle"), 1, "cycle"},
		{"a nil object", mistake("nil"), 1, "component third: an object is nil"},
		{"an object without a name", mistake("no name"), 1, "component third: ConfigMap without name: invalid manifest: metadata.name is missing"},
		{"a list as an object", mistake("list"), 1, "it is a list"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, row.content))
			assert.Equal(t, row.code, code, log)
			assert.Contains(t, log, row.want)
			assert.Contains(t, log, "cr.yaml", "it names the file")
			assert.NotContains(t, out, "second: ConfigMap/second", "nothing half rendered that could be taken for all of it")
		})
	}
}

func TestDryRunOfResourcesThatAClusterWouldLeaveAlone(t *testing.T) {
	t.Parallel()
	for reason, metadata := range map[string]string{
		"paused":        `annotations: {operkit.dev/pause-execution: "true"}`,
		"being deleted": `deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [example.com/x]`,
	} {
		code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, strings.Replace(sample, "namespace: shop", "namespace: shop, "+metadata, 1)))
		assert.Zero(t, code, log)
		assert.Contains(t, out, "# second: ConfigMap/second", reason)
	}
}

func TestDryRunGoesOnBehindAMistake(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(sample, "spec: {}", "spec: {mistake: error}", 1)
	good := strings.Replace(sample, "name: sample", "name: other", 1)
	code, out, log := execute(t, "run", "--dry-run", "--cr", file(t, bad+"---\n"+good))
	assert.Equal(t, 1, code)
	assert.Contains(t, log, "Widget sample: setup: the moon")
	assert.Contains(t, out, "# second: ConfigMap/second", "the other resource is rendered")
}
