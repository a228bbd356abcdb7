package record_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var versions = project.Versions{Go: "1.26.0", Operator: "v0.1.0", Envtest: "v0.1.0", ControllerTools: "v0.23.0"}

func values(kind, pkg string) project.Values {
	return project.Values{
		Name: "guestbook-operator", Module: "example.com/guestbook-operator", Kind: kind, Group: "example.com", Version: "v1",
		API: "api/v1", Package: pkg, Versions: versions,
	}
}

// created is a record of a new project, and the folder with its files.
func created(t *testing.T) (record.Record, string) {
	t.Helper()
	files, err := project.New(values("Guestbook", "guestbook"))
	require.NoError(t, err)
	r := record.New("v0.3.0", values("Guestbook", "guestbook"), files)
	own, err := r.Files()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, project.Create(dir, own))
	return r, dir
}

func paths(files []project.File) (paths []string) {
	for _, file := range files {
		paths = append(paths, file.Path)
	}
	return paths
}

func TestRecord(t *testing.T) {
	t.Parallel()
	r, dir := created(t)
	read, err := record.Read(dir, "v0.3.0")
	require.NoError(t, err)
	assert.Equal(t, r, read, "it is read as it was written")
	assert.Contains(t, paths(r.Base), "internal/guestbook/server.go")
	for _, generated := range []string{
		"go.mod", "api/v1/zz_generated.deepcopy.go", "config/crd/example.com_guestbooks.yaml", "internal/guestbook/testdata/my-guestbook.yaml",
	} {
		assert.NotContains(t, paths(r.Base), generated, "commands make it")
	}
	changed, err := r.Write(dir)
	require.NoError(t, err)
	assert.False(t, changed, "nothing differs")

	made, err := r.Answers.Files("example.com/guestbook-operator", versions)
	require.NoError(t, err)
	assert.Equal(t, r.Base, made, "the answers make the same files again")
	made, err = r.Answers.Files("example.com/moved", versions)
	require.NoError(t, err)
	assert.Contains(t, string(made[indexOf(t, made, "main.go")].Text), `"example.com/moved/internal/guestbook"`)
}

func indexOf(t *testing.T, files []project.File, path string) int {
	t.Helper()
	for i, file := range files {
		if file.Path == path {
			return i
		}
	}
	require.Fail(t, "no "+path)
	return 0
}

func TestAdditions(t *testing.T) {
	t.Parallel()
	r, dir := created(t)
	kind := values("Backup", "backup")
	files, err := project.Render(project.Kind, kind)
	require.NoError(t, err)
	component := project.Values{Component: "cache", Type: "cache", Test: "TestCache", Folder: "internal/backup", Package: "backup", Labels: true}
	more, err := project.Render(project.Component, component)
	require.NoError(t, err)
	webhook := kind
	webhook.Folder = "internal/backup"
	hooks, err := project.Render(project.Webhook, webhook)
	require.NoError(t, err)
	for range 2 { // the second time nothing changes
		r.AddWebhook(webhook, hooks)
		require.NoError(t, r.AddServing())
		r.AddKind(kind, files)
		r.AddComponent(component, more)
	}
	assert.Len(t, r.Kinds, 2)
	assert.Len(t, r.Components, 1)
	assert.Len(t, r.Webhooks, 1)
	changed, err := r.Write(dir)
	require.NoError(t, err)
	assert.True(t, changed)
	read, err := record.Read(dir, "v0.3.0")
	require.NoError(t, err)
	made, err := read.Answers.Files("example.com/guestbook-operator", versions)
	require.NoError(t, err)
	assert.Equal(t, read.Base, made, "with doc.go once, which both kinds have")
	for _, want := range []string{"internal/backup/cache_test.go", "internal/backup/webhooks.go", "config/manager/service.yaml", "config/rbac/webhooks.yaml"} {
		assert.Contains(t, paths(made), want)
	}
}

func TestRecordThatCantBeRead(t *testing.T) {
	t.Parallel()
	_, err := record.Read(t.TempDir(), "v0.3.0")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, dir := created(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, record.AnswersFile), []byte("nam: x\n"), 0o600))
	_, err = record.Read(dir, "v0.3.0")
	require.ErrorContains(t, err, ".operkit/answers.yaml: ")
	_, dir = created(t)
	require.NoError(t, os.Remove(filepath.Join(dir, record.BaseFile)))
	_, err = record.Read(dir, "v0.3.0")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = record.Record{Base: []project.File{{Path: "a", Text: []byte("-- b --\n")}}}.Files()
	assert.ErrorContains(t, err, "looks like the beginning of another file")
}

// A newer record says so, even if it has answers that this program doesn't know.
func TestRecordOfANewerProgram(t *testing.T) {
	t.Parallel()
	_, dir := created(t)
	path := filepath.Join(dir, record.AnswersFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, "more: true\n"...), 0o600))
	for _, row := range []struct{ reason, program, want string }{
		{"an older program", "v0.2.9", "was written by operkit v0.3.0, which is newer than this program (v0.2.9): run operkit@latest"},
		{"a program without a version", "(devel)", "was written by operkit v0.3.0, and can't be read by this program ((devel)): "},
		{"a newer program: the answer is wrong", "v0.4.0", `unknown field "more"`},
	} {
		_, err := record.Read(dir, row.program)
		require.ErrorContains(t, err, row.want, row.reason)
	}
}
