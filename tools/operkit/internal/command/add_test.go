package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden is what a person has to do after a component was added.
const golden = "\nThe samples render more now. To update testdata, run: make golden\n"

func TestAddComponent(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	inside := filepath.Join(dir, "internal")
	said := done(t, "add", "component", "cache", "--after", "server", "--dir", inside)
	assert.Equal(t, "created   internal/guestbook/cache.go\ncreated   internal/guestbook/cache_test.go\n"+
		"edited    config/rbac/role.yaml\nedited    internal/guestbook/controller.go\n"+golden, said)
	isGo(t, dir)
	assert.Contains(t, read(t, dir, "internal/guestbook/controller.go"),
		"\ts.Use(\"server\", server{resource.Spec})\n\ts.Use(\"cache\", cache{}).After(s.Component(\"server\"), reconcile.Ready)\n\treturn nil\n")
	assert.Contains(t, read(t, dir, "config/rbac/role.yaml"), "resources: [configmaps]")

	write(t, dir, "internal/guestbook/cache.go", "package guestbook\n\ntype cache struct{}\n")
	before := tree(t, dir)
	said = done(t, "add", "component", "cache", "--after", "server", "--dir", inside)
	assert.Equal(t, "exists    internal/guestbook/controller.go: the component cache\nexists    internal/guestbook/cache.go\n"+
		"exists    internal/guestbook/cache_test.go\n", said)
	assert.Equal(t, before, tree(t, dir), "again: nothing changes")
	done(t, "add", "component", "web", "--after", "server,cache", "--dir", dir)
	assert.Contains(t, read(t, dir, "internal/guestbook/controller.go"), `.After(s.Component("server"), reconcile.Ready).After(s.Component("cache"), reconcile.Ready)`)
}

// An add that was interrupted before the line was written goes on where it stood.
func TestAddComponentGoesOn(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	controller := read(t, dir, "internal/guestbook/controller.go")
	done(t, "add", "component", "cache", "--dir", dir)
	write(t, dir, "internal/guestbook/controller.go", controller)
	edit(t, dir, "internal/guestbook/cache.go", "type cache struct{}", "type cache struct{ size int }")
	edited := read(t, dir, "internal/guestbook/cache.go")
	assert.Equal(t, "kept      internal/guestbook/cache.go: its content differs from what this command would write\nexists    internal/guestbook/cache_test.go\n"+
		"exists    config/rbac/role.yaml\nedited    internal/guestbook/controller.go\n"+golden, done(t, "add", "component", "cache", "--dir", dir))
	assert.Equal(t, edited, read(t, dir, "internal/guestbook/cache.go"))
	assert.Contains(t, read(t, dir, "internal/guestbook/controller.go"), `s.Use("cache", cache{})`)
}

func TestAddComponentToAnotherShape(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	edit(t, dir, "internal/guestbook/controller.go", "\treturn nil\n}\n\n// labels", "\treturn finish(s)\n}\n\n// labels")
	write(t, dir, "config/rbac/role.yaml", "kind: ClusterRole\nrules: []\n")
	before := read(t, dir, "internal/guestbook/controller.go")
	said := done(t, "add", "component", "cache", "--dir", dir)
	_, byHand, found := strings.Cut(said, "\nAdd this by hand, because operkit didn't find the place for it:\n")
	require.True(t, found, said)
	assert.Equal(t, "  config/rbac/role.yaml\n      - apiGroups: [\"\"]\n        resources: [configmaps]\n"+
		"        # server-side apply is a patch that may create; get is for times when a watch is broken\n"+
		"        verbs: [get, list, watch, create, patch, delete]\n"+
		"  internal/guestbook/controller.go\n    s.Use(\"cache\", cache{})\n"+golden, byHand)
	assert.Equal(t, before, read(t, dir, "internal/guestbook/controller.go"))
	assert.FileExists(t, filepath.Join(dir, "internal/guestbook/cache.go"))
}

// Two components whose files would have one name.
func TestAddComponentOfAlmostTheSameName(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "component", "web-front", "--dir", dir)
	before := tree(t, dir)
	r := execute(t, "add", "component", "webfront", "--dir", dir)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, `component "webfront": internal/guestbook/webfront.go exists, but has no type webfront: use another name, or remove that file`)
	assert.Equal(t, before, tree(t, dir))
}

func TestAddKind(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	said := done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	assert.Equal(t, `created   api/v1/backup_types.go
created   config/crd/example.com_backups.yaml
created   config/samples/backup.yaml
created   internal/backup/controller.go
created   internal/backup/controller_test.go
created   internal/backup/server.go
created   internal/backup/server_test.go
created   internal/backup/testdata/my-backup.yaml
edited    config/rbac/role.yaml
edited    config/kustomization.yaml
edited    main.go

The deep copies of Backup are missing. To generate them, run: cd `+dir+` && go generate ./api/v1
`, said)
	isGo(t, dir)
	assert.Contains(t, read(t, dir, "main.go"), "\top.Control(guestbook.Controller{})\n\top.Control(backup.Controller{})\n\top.Main()\n")
	assert.Contains(t, read(t, dir, "config/kustomization.yaml"), "  - crd/example.com_guestbooks.yaml\n  - crd/example.com_backups.yaml\n")
	assert.Equal(t, 1, strings.Count(read(t, dir, "config/rbac/role.yaml"), "resources: [deployments]"), "what there was isn't said twice")

	edit(t, dir, "internal/backup/server.go", "const port = 8080", "const port = 8888")
	before := tree(t, dir)
	said = done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	assert.Contains(t, said, "exists    the program's controller example.com/guestbook-operator/internal/backup\n")
	assert.NotContains(t, said, "created")
	assert.Equal(t, before, tree(t, dir), "again: nothing changes")

	done(t, "add", "component", "cache", "--kind", "Backup", "--dir", dir)
	assert.FileExists(t, filepath.Join(dir, "internal/backup/cache.go"))
	r := execute(t, "add", "component", "cache", "--dir", dir)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "--kind: is missing: the operator has controllers of backup (internal/backup/controller.go), guestbook (internal/guestbook/controller.go)")
}

func TestAddKindOfAnotherGroup(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	said := done(t, "add", "kind", "Disk", "--group", "storage.example.com", "--dir", dir)
	assert.Contains(t, said, "created   api/storage/v1/doc.go\n")
	assert.NotContains(t, said, "go generate", "a package of its own has its deep copies from the start")
	r := execute(t, "add", "kind", "Other", "--dir", dir)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.stderr, "--group: is missing: the operator has the groups storage.example.com, example.com")
	done(t, "add", "kind", "Volume", "--group", "storage.example.com", "--no-generate", "--dir", dir)
	assert.FileExists(t, filepath.Join(dir, "api/storage/v1/volume_types.go"), "the version is the group's")
	said = done(t, "add", "kind", "Share", "--group", "storage.example.org", "--dir", dir)
	assert.Contains(t, said, "created   api/storage.example.org/v1/doc.go\n", "a group that begins alike has a package of its own")
}

func TestAddKindToAnotherShape(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	write(t, dir, "main.go", "package main\n\nfunc main() {}\n")
	write(t, dir, "config/kustomization.yaml", "resources: [crd]\n")
	said := done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	assert.Contains(t, said, "  config/kustomization.yaml\n    resources:\n      - crd/example.com_backups.yaml\n")
	assert.Contains(t, said, "  main.go\n    op.Control(backup.Controller{}), and import \"example.com/guestbook-operator/internal/backup\"\n")
	assert.Equal(t, "package main\n\nfunc main() {}\n", read(t, dir, "main.go"))
	again := done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	assert.NotContains(t, again, "created")
	assert.Contains(t, again, "  main.go\n", "until it is done it is told")
}

// What the go command says is told, and the files stay.
func TestAddKindThatCantBeGenerated(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	dir := operator(t)
	r := execute(t, "add", "kind", "Backup", "--dir", dir)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "edited    main.go\n")
	assert.True(t, strings.HasSuffix(r.stderr, "run:\n  cd "+dir+" && go generate ./api/v1\n"), r.stderr)
	r = execute(t, "add", "kind", "Backup", "--dir", dir)
	assert.Equal(t, 1, r.code, "again: it is still missing")
}
