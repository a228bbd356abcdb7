package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs the command as main does, with files in testdata.
func call(stdin string, args ...string) (stdout, said string) {
	command := newCommand()
	var out bytes.Buffer
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(args)
	if err := command.Execute(); err != nil {
		return out.String(), "patch: " + err.Error() + "\n"
	}
	return out.String(), ""
}

// The README's session is what the command says, line by line.
func TestReadme(t *testing.T) {
	t.Chdir("testdata")
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	var shown, happened strings.Builder
	calls := 0
	for i, block := range strings.Split(string(readme), "```") {
		session, isSession := strings.CutPrefix(block, "console\n")
		if i%2 == 0 || !isSession {
			continue
		}
		shown.WriteString(session)
		for line := range strings.Lines(session) {
			args := strings.Fields(strings.TrimPrefix(line, "$ "))
			switch {
			case strings.HasPrefix(line, "$ cat "):
				text, err := os.ReadFile(args[1])
				require.NoError(t, err)
				happened.WriteString(line + string(text))
			case strings.HasPrefix(line, "$ patch "):
				calls++
				stdout, said := call("", args[1:]...)
				happened.WriteString(line + stdout + said)
			}
		}
	}
	assert.Equal(t, 5, calls)
	assert.Equal(t, shown.String(), happened.String())
}

func TestApply(t *testing.T) {
	t.Chdir("testdata")
	for _, row := range []struct {
		reason      string
		stdin       string
		args        []string
		want, wants string
	}{
		{
			"operations of RFC 6902, the result as JSON", "", []string{"-f", "deploy.yaml", "-p", "ops.json", "--type", "json", "-o", "json"},
			"", "\"replicas\": 3,\n",
		},
		{
			"a merge patch: null deletes, lists are replaced", "{spec: {replicas: null, template: {spec: {containers: []}}}}",
			[]string{"-f", "deploy.yaml", "-p", "-", "--type", "merge"}, "", "    spec:\n      containers: []\n",
		},
		{
			"a manifest in JSON from standard input", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"9007199254740993"}}`,
			[]string{"-f", "-", "-p", "label.yaml"}, "apiVersion: v1\ndata:\n  a: \"9007199254740993\"\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n  name: m\n", "",
		},
		{
			"a large number stays exact", "{apiVersion: v1, kind: Pod, metadata: {name: p, generation: 9007199254740993}}",
			[]string{"-f", "-", "-p", "label.yaml", "-o", "json"}, "", `"generation": 9007199254740993`,
		},
		{
			"without its definition the list of a custom resource is replaced", "", []string{"-f", "menu.yaml", "-p", "price.yaml"},
			"apiVersion: examples.operkit.dev/v1\nkind: Menu\nmetadata:\n  name: today\nspec:\n  dishes:\n  - name: stew\n    price: 11\n", "",
		},
		{
			"a patch may rename where it is told so", "{metadata: {name: other}}", []string{"-f", "menu.yaml", "-p", "-", "--rename"},
			"", "  name: other\n",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			stdout, said := call(row.stdin, row.args...)
			require.Empty(t, said)
			assert.Contains(t, stdout, row.wants)
			if row.want != "" {
				assert.Equal(t, row.want, stdout)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	t.Chdir("testdata")
	for _, kind := range []string{"strategic", "json", "merge"} {
		t.Run(kind+": the patch of two manifests makes the second of the first", func(t *testing.T) {
			wanted, err := os.ReadFile("wanted.yaml")
			require.NoError(t, err)
			patch, said := call("", "diff", "deploy.yaml", "wanted.yaml", "--type", kind)
			require.Empty(t, said)
			require.NotEmpty(t, patch)
			stdout, said := call(patch, "-f", "deploy.yaml", "-p", "-", "--type", kind)
			require.Empty(t, said)
			assert.Equal(t, string(wanted), stdout)
		})
	}
	t.Run("the definition of a custom resource tells its lists", func(t *testing.T) {
		menu, err := os.ReadFile("menu.yaml")
		require.NoError(t, err)
		dearer := strings.Replace(string(menu), "price: 9", "price: 11", 1)
		patch, said := call(dearer, "diff", "menu.yaml", "-", "--crd", "crd.yaml")
		require.Empty(t, said)
		assert.Equal(t, "spec:\n  dishes:\n  - name: stew\n    price: 11\n", patch)
	})
}

func TestBadInput(t *testing.T) {
	t.Chdir("testdata")
	for _, row := range []struct {
		reason, stdin string
		args          []string
		want          string
	}{
		{"no patch", "", []string{"-f", "deploy.yaml"}, `required flag(s) "patch" not set`},
		{"an argument", "", []string{"deploy.yaml"}, "unknown command"},
		{"no such type", "", []string{"-f", "deploy.yaml", "-p", "image.yaml", "--type", "apply"}, "--type apply: want strategic, json or merge"},
		{"no such output", "", []string{"-f", "deploy.yaml", "-p", "image.yaml", "-o", "wide"}, "--output wide: want yaml or json"},
		{"strict is for strategic", "", []string{"-f", "deploy.yaml", "-p", "ops.json", "--type", "json", "--strict"}, "--strict: it is about strategic"},
		{"so is a definition", "", []string{"diff", "menu.yaml", "menu.yaml", "--type", "merge", "--crd", "crd.yaml"}, "--crd: it is about strategic"},
		{"both from standard input", "{}", []string{"-f", "-", "-p", "-"}, "standard input can be one"},
		{"no such file", "", []string{"-f", "none.yaml", "-p", "image.yaml"}, "none.yaml: no such file"},
		{"an empty file", " \n", []string{"-f", "-", "-p", "image.yaml"}, "-: it is empty"},
		{"no YAML", "a: [", []string{"-f", "-", "-p", "image.yaml"}, "-: it isn't the manifest of an object"},
		{"several documents", "a: b\n---\nc: d\n", []string{"-f", "-", "-p", "image.yaml", "--type", "merge"}, "a second document begins"},
		{"a field twice", "kind: A\nkind: B\n", []string{"-f", "-", "-p", "image.yaml", "--type", "merge"}, "kind"},
		{"another object", "{metadata: {name: other}}", []string{"-f", "menu.yaml", "-p", "-"}, "/metadata/name"},
		{"a test that fails", `[{"op":"test","path":"/spec/replicas","value":7}]`, []string{"-f", "deploy.yaml", "-p", "-", "--type", "json"}, "/spec/replicas"},
		{"strict: a kind of which nothing is known", "", []string{"-f", "menu.yaml", "-p", "price.yaml", "--strict"}, `kind "Menu"`},
		{
			"strict: what isn't there can't be deleted", "{spec: {template: {spec: {containers: [{name: none, $patch: delete}]}}}}",
			[]string{"-f", "deploy.yaml", "-p", "-", "--strict"}, "/spec/template/spec/containers/0",
		},
		{"a definition of another kind", "", []string{"-f", "deploy.yaml", "-p", "image.yaml", "--crd", "crd.yaml"}, "it defines Menu.examples.operkit.dev"},
		{"no definition", "", []string{"-f", "menu.yaml", "-p", "price.yaml", "--crd", "menu.yaml"}, "menu.yaml: it defines"},
		{
			"a version that the definition lacks", "{apiVersion: examples.operkit.dev/v2, kind: Menu}",
			[]string{"-f", "-", "-p", "price.yaml", "--crd", "crd.yaml"}, "crd.yaml: ",
		},
		{"one manifest", "", []string{"diff", "deploy.yaml"}, "diff: 1 manifests: want two"},
		{"a list as manifest", "[1]", []string{"diff", "-", "deploy.yaml"}, "-: it isn't the manifest of an object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			stdout, said := call(row.stdin, row.args...)
			assert.Contains(t, said, row.want)
			assert.Empty(t, stdout)
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"diff", "--help"}} {
		stdout, said := call("", args...)
		assert.Empty(t, said)
		assert.Contains(t, stdout, "Examples:\n  patch ")
		assert.Contains(t, stdout, "--crd")
	}
}
