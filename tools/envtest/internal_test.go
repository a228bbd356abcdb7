package envtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNamespaceName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ test, want string }{
		"plain":           {"TestWeb", "testweb"},
		"subtest":         {"TestWeb/is_ready#01", "testweb-is-ready-01"},
		"signs in a row":  {"TestWeb/ -- x --", "testweb-x"},
		"other letters":   {"TestÄpfel", "test-pfel"},
		"only those":      {"Ä/Ö", "test"},
		"begins with one": {"1Test", "test"},
		"long":            {strings.Repeat("x", 47) + "/y", strings.Repeat("x", 47)},
		"nothing":         {"", "test"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := namespaceName(test.test)
			assert.Equal(t, test.want, got[:len(got)-suffix-1])
			assert.Empty(t, validation.IsDNS1123Label(got), got)
			assert.NotEqual(t, got, namespaceName(test.test), "fresh each time")
		})
	}
}

func FuzzNamespaceName(f *testing.F) {
	f.Add("TestWeb/is_ready#01")
	f.Add("-a-/\x00Ä")
	f.Fuzz(func(t *testing.T, test string) {
		got := namespaceName(test)
		assert.Empty(t, validation.IsDNS1035Label(got), got)
	})
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("kind: A\n---\n# nothing\n---\nkind: B\napiVersion: v1\n"))
	f.Add([]byte("{\"kind\":\"A\"}"))
	f.Add([]byte("---\r\nkind: [\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, err := split("file", text)
		if err != nil {
			assert.ErrorContains(t, err, "file: document ")
			return
		}
		for _, document := range documents {
			assert.NotEmpty(t, document.kind)
		}
	})
}

func TestReadDocumentsTakesAFoldersFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": "kind: B\n---\n---\nkind: C\n", "a.yml": "kind: A", "c.json": `{"kind":"D"}`,
		"notes.txt": "kind: E", "sub/x.yaml": "kind: F", "kustomization.yaml": "resources: [a.yml]",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	documents, err := readDocuments(dir)
	require.NoError(t, err)
	var kinds []string
	for _, document := range documents {
		kinds = append(kinds, document.kind)
	}
	assert.Equal(t, []string{"A", "B", "C", "D"}, kinds, "by file name, without subfolders and without what has no kind")
}

func TestRulesOfFiles(t *testing.T) {
	t.Parallel()
	inline := rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	namespaced, cluster, err := rules([]Grant{InNamespace(inline), RolesIn("testdata/roles"), {}})
	require.NoError(t, err)
	assert.Len(t, namespaced, 2, "the inline one and the Role's")
	assert.Len(t, cluster, 1, "the ClusterRole's")

	for path, want := range map[string]string{
		"testdata/absent":  "roles: stat testdata/absent: no such file or directory",
		"testdata/crds":    "roles: testdata/crds holds no Role and no ClusterRole",
		"testdata/badrole": `roles: testdata/badrole/role.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "rulez"`,
	} {
		_, _, err := rules([]Grant{RolesIn(path)})
		assert.EqualError(t, err, want)
	}
}

func TestQuestionAsksForWhatARuleAllows(t *testing.T) {
	t.Parallel()
	resource := func(attributes map[string]any) map[string]any {
		return map[string]any{"resourceAttributes": attributes}
	}
	tests := map[string]struct {
		rule      rbacv1.PolicyRule
		namespace string
		want      map[string]any
	}{
		"subresource": {rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{"apps"}, Resources: []string{"deployments/status"}}, "ns",
			resource(map[string]any{"verb": "patch", "group": "apps", "resource": "deployments", "subresource": "status", "namespace": "ns"})},
		"one object": {rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{"n"}}, "",
			resource(map[string]any{"verb": "get", "group": "", "resource": "nodes", "subresource": "", "name": "n"})},
		"path": {rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics/*"}}, "",
			map[string]any{"nonResourceAttributes": map[string]any{"verb": "get", "path": "/metrics/"}}},
		"nothing":     {rbacv1.PolicyRule{}, "ns", nil},
		"no resource": {rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}}, "ns", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, question(test.rule, test.namespace))
		})
	}
}

func TestDefinitionIsWhatSomeoneMeant(t *testing.T) {
	t.Parallel()
	all, err := readDefinitions([]string{"testdata/crds"})
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.NotContains(t, all[0].object.Object, "status", "a generator's leftovers are nobody's intent")
	assert.NotContains(t, all[0].object.Object["metadata"], "creationTimestamp")
	assert.Equal(t, []schema.GroupVersionKind{{Group: "envtest.operkit.dev", Version: "v1", Kind: "Widget"}}, all[0].kinds())
}

func TestUntil(t *testing.T) {
	t.Parallel()
	asked := 0
	require.NoError(t, until(t.Context(), time.Millisecond, func() (bool, error) { asked++; return asked == 3, nil }))
	assert.Equal(t, 3, asked)

	broken := errors.New("broken")
	assert.ErrorIs(t, until(t.Context(), time.Millisecond, func() (bool, error) { return false, broken }), broken)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, until(ctx, time.Millisecond, func() (bool, error) { return false, nil }), context.DeadlineExceeded)
	assert.ErrorIs(t, until(ctx, time.Millisecond, func() (bool, error) { return false, broken }), context.DeadlineExceeded)
	assert.NoError(t, until(ctx, time.Millisecond, func() (bool, error) { return true, nil }), "an answer is an answer")
}

func TestReadmeShowsCodeThatIsTested(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	snippet, _, found := strings.Cut(rest, "```\n")
	require.True(t, found)
	assert.True(t, strings.HasSuffix(string(source), "\n\n"+snippet), "the snippet is the end of readme_test.go")
}
