package crd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func definition(name string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: " + name + "\n"
}

func names(definitions []Definition) []string {
	var all []string
	for _, d := range definitions {
		all = append(all, d.Name)
	}
	return all
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, content string
		want            []string
		err             string
	}{
		{"one document", definition("a"), []string{"a"}, ""},
		{"several, with empty ones between", "---\n" + definition("a") + "---\n---\r\n" + definition("b") + "---", []string{"a", "b"}, ""},
		{"a comment after the separator", "--- # first\n" + definition("a"), []string{"a"}, ""},
		{"a document on the separator's line", `--- {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"}}`, []string{"a"}, ""},
		{"dashes in a text are no separator", definition("a") + "description: |\n  ---\n----: x\n", []string{"a"}, ""},
		{"other kinds are passed over", "kind: Kustomization\nresources: [a.yaml]\n---\n" + definition("a"), []string{"a"}, ""},
		{"nothing", "", nil, ""},
		{"not YAML", "a: b: c", nil, "CRD file f.yaml: document 1: "},
		{"the second is not an object", definition("a") + "---\n- x\n", nil, "CRD file f.yaml: document 2: "},
		{"an old API version", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n", nil, "apiVersion is apiextensions.k8s.io/v1beta1, only apiextensions.k8s.io/v1 is served"},
		{"no API version", "kind: CustomResourceDefinition\n", nil, "apiVersion is <nil>"},
		{"no name", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", nil, "metadata.name is missing or not a name"},
		{"a name that is a path", definition("../a"), nil, "metadata.name is missing or not a name"},
		{"a name that is a number", definition("7"), nil, "metadata.name is missing or not a name"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := Parse("f.yaml", []byte(row.content))
			if row.err != "" {
				assert.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, names(got))
			for _, d := range got {
				assert.Equal(t, "f.yaml", d.Source)
				assert.Equal(t, kind, d.Object["kind"])
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml": definition("a"), "b.YML": definition("b"), "c.json": `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "c"}}`,
		"README.md": "---\nnot: [yaml", "sub/d.yaml": definition("d"), "empty/kustomization.yaml": "kind: Kustomization\n",
		"broken/x.yaml": "{",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for _, row := range []struct {
		reason string
		paths  []string
		want   []string
		err    string
	}{
		{"nothing given", nil, nil, ""},
		{"a directory, without the ones below it", []string{""}, []string{"a", "b", "c"}, ""},
		{"a directory and a file", []string{"sub", "a.yaml"}, []string{"d", "a"}, ""},
		{"the same definition twice", []string{"", "a.yaml"}, nil, "CRD a is defined twice: in " + filepath.Join(dir, "a.yaml")},
		{"no definition in it: most likely the wrong directory", []string{"empty"}, nil, "CRDs: " + filepath.Join(dir, "empty") + " holds no CustomResourceDefinition"},
		{"a path that is not there", []string{"missing"}, nil, "missing: no such file"},
		{"a broken file", []string{"broken"}, nil, "CRD file " + filepath.Join(dir, "broken", "x.yaml") + ": document 1: "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var paths []string
			for _, path := range row.paths {
				paths = append(paths, filepath.Join(dir, path))
			}
			got, err := Load(paths...)
			if row.err != "" {
				assert.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, names(got))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(definition("a") + "---\n" + definition("b")))
	f.Add([]byte("--- {}\n---\n"))
	f.Add([]byte("a: b: c"))
	f.Fuzz(func(t *testing.T, content []byte) {
		definitions, err := Parse("f.yaml", content)
		if err != nil {
			return
		}
		for _, d := range definitions {
			if d.Name == "" || d.Object == nil {
				t.Errorf("a definition without name or object: %v", d)
			}
		}
		joined := 0
		for _, document := range split(content) {
			joined += len(document)
		}
		if joined > len(content) {
			t.Errorf("%d bytes were split into %d", len(content), joined)
		}
	})
}
