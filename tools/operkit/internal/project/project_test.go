package project_test

import (
	"go/format"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestNew(t *testing.T) {
	t.Parallel()
	files := rendered(t)
	for _, want := range []string{
		"main.go", "go.mod", "Makefile", "Dockerfile", ".gitignore", ".dockerignore", "README.md", ".github/workflows/ci.yaml",
		".golangci.yml", "AGENTS.md", "cluster_test.go",
		"api/v1/doc.go", "api/v1/guestbook_types.go", "api/v1/zz_generated.deepcopy.go",
		"internal/guestbook/controller.go", "internal/guestbook/controller_test.go", "internal/guestbook/server.go",
		"internal/guestbook/server_test.go", "internal/guestbook/testdata/my-guestbook.yaml",
		"config/crd/example.com_guestbooks.yaml", "config/samples/guestbook.yaml", "config/kustomization.yaml",
		"config/rbac/role.yaml", "config/rbac/binding.yaml", "config/rbac/leader_election.yaml",
		"config/manager/namespace.yaml", "config/manager/deployment.yaml",
	} {
		assert.Contains(t, files, want)
	}
	assert.Len(t, files, 27)
	isWellFormed(t, files)
}

// What is added later is as well formed.
func TestParts(t *testing.T) {
	t.Parallel()
	v := values()
	v.Folder, v.Spokes = "internal/guestbook", []project.Spoke{{Version: "v1beta1", API: "api/v1beta1"}, {Version: "v1beta2", API: "api/v1beta2"}}
	for part, want := range map[project.Part][]string{
		project.Webhook:    {"internal/guestbook/webhooks.go", "internal/guestbook/webhooks_test.go"},
		project.Conversion: {"config/conversion/example.com_guestbooks.yaml", "internal/guestbook/conversion.go", "internal/guestbook/conversion_test.go"},
		project.Serving:    {"config/manager/service.yaml", "config/rbac/webhooks.yaml"},
	} {
		v.Controlled = false
		files, err := project.Render(part, v)
		require.NoError(t, err)
		texts := map[string]string{}
		for _, file := range files {
			texts[file.Path] = string(file.Text)
		}
		assert.ElementsMatch(t, want, slices.Collect(maps.Keys(texts)))
		isWellFormed(t, texts)
		v.Controlled = true
		files, err = project.Render(part, v)
		require.NoError(t, err)
		for _, file := range files {
			isWellFormed(t, map[string]string{file.Path: string(file.Text)})
		}
	}
	assert.Equal(t, "../../api/...", v.Pattern())
	v.API = "pkg/apis/v1"
	assert.Equal(t, "../...", v.Pattern(), "types elsewhere: beside the folder")
	assert.Equal(t, "v2", v.NextVersion())
}

// The rights are those that the operator's README lists, and the Service is as it says.
func TestServing(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../../operator/README.md")
	require.NoError(t, err)
	_, chapter, found := strings.Cut(string(readme), "\n## Webhooks\n")
	require.True(t, found)
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	var listed []any
	for _, block := range strings.Split(chapter, "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		var rules []any
		require.NoError(t, yaml.Unmarshal([]byte(text), &rules))
		listed = append(listed, rules...)
	}
	files, err := project.Render(project.Serving, values())
	require.NoError(t, err)
	var granted []any
	for document := range strings.SplitSeq(string(files[1].Text), "\n---\n") {
		var role struct {
			Rules []any `json:"rules"`
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &role))
		granted = append(granted, role.Rules...)
	}
	sorted := func(rules []any) (out []string) {
		for _, rule := range rules {
			for _, key := range []string{"resources", "verbs"} {
				slices.SortFunc(rule.(map[string]any)[key].([]any), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			}
			text, err := yaml.Marshal(rule)
			require.NoError(t, err)
			out = append(out, string(text))
		}
		return out
	}
	assert.ElementsMatch(t, sorted(listed), sorted(granted))
}

func isWellFormed(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		assert.NotContains(t, text, "<no value>", name)
		assert.NotContains(t, text, "{{", name)
		assert.True(t, strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n"), "%s: ends with its last line", name)
		for line := range strings.Lines(text) {
			assert.Equal(t, strings.TrimRight(line, " \t\n"), strings.TrimSuffix(line, "\n"), "%s: nothing at the end of a line", name)
		}
		switch path.Ext(name) {
		case ".go":
			formatted, err := format.Source([]byte(text))
			require.NoError(t, err, name)
			assert.Equal(t, string(formatted), text, name)
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "// +") && !strings.Contains(line, "Functions[") { // a marker and a call have to be one line
					assert.LessOrEqual(t, len(line), len("\n")+120, "%s: %s", name, line)
				}
			}
		case ".yaml":
			for document := range strings.SplitSeq(text, "\n---\n") {
				var object map[string]any
				assert.NoError(t, yaml.UnmarshalStrict([]byte(document), &object), name)
				assert.NotEmpty(t, object, name)
			}
		}
	}
}

// What the kustomization names is there, and all of config that is to be installed is named by it.
func TestKustomization(t *testing.T) {
	t.Parallel()
	files := rendered(t)
	var document struct {
		Resources []string `json:"resources"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(files[project.KustomizationFile]), &document))
	var installed []string
	for name := range files {
		if below, is := strings.CutPrefix(name, "config/"); is && strings.Contains(below, "/") && !strings.HasPrefix(below, "samples/") {
			installed = append(installed, below)
		}
	}
	assert.ElementsMatch(t, installed, document.Resources)
}

// An operator may elect a leader and have peers, as package peering says, in the namespace of its Pods only.
func TestLeases(t *testing.T) {
	t.Parallel()
	files := rendered(t)
	role, _, _ := strings.Cut(files["config/rbac/leader_election.yaml"], "\n---\n")
	var document struct {
		Kind  string `json:"kind"`
		Rules []struct {
			Resources []string `json:"resources"`
			Verbs     []string `json:"verbs"`
		} `json:"rules"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(role), &document))
	assert.Equal(t, "Role", document.Kind)
	require.Len(t, document.Rules, 1)
	assert.Equal(t, []string{"leases"}, document.Rules[0].Resources)
	assert.ElementsMatch(t, []string{"get", "list", "watch", "create", "update", "delete"}, document.Rules[0].Verbs)
	assert.NotContains(t, files["config/rbac/role.yaml"], "leases")
}

func TestRenderedNames(t *testing.T) {
	t.Parallel()
	v := values()
	v.Group, v.Version, v.API, v.Kind, v.Package = "storage.example.com", "v1alpha1", "api/storage/v1alpha1", "Switch", "switchcontroller"
	files, err := project.Render(project.Kind, v)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		texts[file.Path] = string(file.Text)
	}
	assert.Contains(t, texts["api/storage/v1alpha1/doc.go"], "output:crd:dir=../../../config/crd\n")
	assert.Contains(t, texts["internal/switchcontroller/controller.go"], `v1alpha1 "example.com/guestbook-operator/api/storage/v1alpha1"`)
	assert.Contains(t, texts["config/crd/storage.example.com_switches.yaml"], "  name: switches.storage.example.com\n")
	assert.Contains(t, texts, "config/samples/switch.yaml")

	v.Empty = true
	files, err = project.Render(project.Kind, v)
	require.NoError(t, err)
	for _, file := range files {
		assert.NotContains(t, file.Path, "server", "no component")
		assert.NotContains(t, string(file.Text), `"server"`, file.Path)
	}

	v.Component, v.Type, v.Test, v.Folder, v.Package = "web-front", "webFront", "TestWebFront", ".", "main"
	files, err = project.Render(project.Component, v)
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, []string{"webfront.go", "webfront_test.go"}, []string{files[0].Path, files[1].Path})
	assert.NotContains(t, string(files[0].Text), "labels(", "a package without such a function")
	v.Labels = true
	files, err = project.Render(project.Component, v)
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Text), `WithLabels(labels(s, "web-front")).`)
}

func TestVersionsOf(t *testing.T) {
	t.Parallel()
	gomod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	own, err := project.VersionsOf(gomod)
	require.NoError(t, err, "the program's own requirements say it")
	assert.Regexp(t, `^v\d`, own.ControllerTools)
	versions, err := project.VersionsOf([]byte("module x\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/operkit/operkit/operator/full v0.1.0\n" +
		"\tgithub.com/operkit/operkit/tools/envtest v0.0.0 // indirect\n\tsigs.k8s.io/controller-tools v0.23.0\n)\n"))
	require.NoError(t, err)
	assert.Equal(t, project.Versions{Go: "1.26.0", Operator: "v0.1.0", Envtest: "latest", ControllerTools: "v0.23.0"}, versions)
	assert.Equal(t, "1.26", project.Values{Versions: versions}.GoMinor())
	_, err = project.VersionsOf([]byte("module x\n\ngo 1.26.0\n"))
	assert.ErrorContains(t, err, "requires no "+project.Operator)
	_, err = project.VersionsOf([]byte("modul"))
	assert.Error(t, err)
}

func TestCheckEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	assert.NoError(t, project.CheckEmpty(dir))
	assert.NoError(t, project.CheckEmpty(filepath.Join(dir, "not", "there")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	assert.NoError(t, project.CheckEmpty(dir), "a repository without files")
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	assert.EqualError(t, project.CheckEmpty(dir), dir+": isn't empty: it contains a, b, c, d, e, 2 more: name another folder by --dir, or empty it")
	assert.ErrorContains(t, project.CheckEmpty(filepath.Join(dir, "a")), "a: ", "a file")
}

func TestCreateIsAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := []project.File{{Path: "a/b/c", Text: []byte("c")}, {Path: "a/d", Text: []byte("d")}, {Path: "e", Text: []byte("e")}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "e"), []byte("mine"), 0o600))
	require.ErrorIs(t, project.Create(dir, files), os.ErrExist)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "what was written is gone")
	text, err := os.ReadFile(filepath.Join(dir, "e"))
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))

	require.NoError(t, os.Remove(filepath.Join(dir, "e")))
	require.NoError(t, project.Create(filepath.Join(dir, "new"), files))
	text, err = os.ReadFile(filepath.Join(dir, "new", "a", "b", "c"))
	require.NoError(t, err)
	assert.Equal(t, "c", string(text))
}

func TestKeepAndReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	for _, row := range []struct {
		text string
		want project.Outcome
	}{{"one", project.Created}, {"one", project.Same}, {"two", project.Kept}} {
		outcome, err := project.Keep(dir, project.File{Path: "a/b", Text: []byte(row.text)})
		require.NoError(t, err)
		assert.Equal(t, row.want, outcome)
	}
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, project.Replace(path, []byte("three")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "three", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "it may be read by whom it could before")
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside it")

	_, err = project.Keep(dir, project.File{Path: "a"})
	assert.Error(t, err, "a folder is in the way")
	assert.ErrorIs(t, project.Replace(filepath.Join(dir, "none"), nil), os.ErrNotExist)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := project.Open(dir)
	assert.ErrorContains(t, err, "isn't in an operator")
	files, err := project.New(values())
	require.NoError(t, err)
	require.NoError(t, project.Create(dir, files))
	p, err := project.Open(filepath.Join(dir, "internal", "guestbook"))
	require.NoError(t, err, "from anywhere inside")
	assert.Equal(t, dir, p.Root)
	assert.Equal(t, "example.com/guestbook-operator", p.Module)
	assert.Equal(t, "v0.23.0", p.ControllerTools)
	assert.Equal(t, []project.API{{Folder: "api/v1", Group: "example.com", Version: "v1"}}, p.APIs())
	assert.Equal(t, []string{"example.com"}, p.Groups())
	assert.Equal(t, []string{"v1"}, p.Versions("example.com"))
	assert.Len(t, p.Controllers(), 1)
	assert.Len(t, p.Programs(), 1)
	for _, row := range []struct{ reason, group, version, want string }{
		{"there", "example.com", "v1", "api/v1"},
		{"another version", "example.com", "v2", "api/v2"},
		{"another group, whose version is new", "storage.example.com", "v1alpha1", "api/v1alpha1"},
		{"another group, whose version another one has", "storage.example.com", "v1", "api/storage/v1"},
	} {
		assert.Equal(t, row.want, p.APIFolder(row.group, row.version), row.reason)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "api", "storage", "v1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "api", "storage", "v1", "doc.go"), []byte("// +groupName=storage.example.com\npackage v1\n"), 0o600))
	p, err = project.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, "api/storage/v1", p.APIFolder("storage.example.com", "v1"))
	assert.Equal(t, "api/storage.example.org/v1", p.APIFolder("storage.example.org", "v1"), "two groups that begin alike")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("go 1.26.0\n"), 0o600))
	_, err = project.Open(dir)
	assert.ErrorContains(t, err, "names no module")

	for _, row := range []struct {
		reason, required string
		want             []string
	}{
		{"nothing is required", "k8s.io/client-go v0.37.2\n", []string{project.Operator + "@v0.2.0", project.Envtest + "@latest", project.ControllerTools + "@v0.23.0"}},
		{"an older, a newer and an unreleased one", project.Operator + " v0.1.0\n" + project.Envtest + " v0.1.0\n" + project.ControllerTools + " v0.24.0\n", []string{project.Operator + "@v0.2.0"}},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\nrequire (\n"+row.required+")\n"), 0o600))
		p, err = project.Open(dir)
		require.NoError(t, err)
		assert.Equal(t, row.want, p.Outdated(project.Versions{Operator: "v0.2.0", Envtest: "latest", ControllerTools: "v0.23.0"}), row.reason)
		assert.False(t, p.Untidy(), row.reason)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\nrequire k8s.io/client-go v0.37.2 // indirect\n"), 0o600))
	p, err = project.Open(dir)
	require.NoError(t, err)
	assert.True(t, p.Untidy(), "nothing imports it yet")
}
