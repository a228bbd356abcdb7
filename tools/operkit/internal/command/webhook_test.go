package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddWebhook(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	said := done(t, "add", "webhook", "Guestbook", "--dir", filepath.Join(dir, "internal"))
	assert.Equal(t, `created   internal/guestbook/webhooks.go
created   internal/guestbook/webhooks_test.go
created   config/manager/service.yaml
created   config/rbac/webhooks.yaml
edited    config/kustomization.yaml
edited    config/manager/deployment.yaml
edited    main.go

Next:
  Defaults and rules that need no Go code are markers in api/v1, without a
  webhook. For the others, edit internal/guestbook/webhooks.go.
  make test           # runs its test
  make test-cluster   # calls it by a real API server
`, said)
	isGo(t, dir)
	assert.Contains(t, read(t, dir, "main.go"), "\top.Control(guestbook.Controller{})\n\top.Admit(guestbook.Webhooks())\n\top.Main()\n")
	assert.Contains(t, read(t, dir, "config/kustomization.yaml"), "  - rbac/binding.yaml\n  - rbac/webhooks.yaml\n")
	assert.Contains(t, read(t, dir, "config/kustomization.yaml"), "  - manager/deployment.yaml\n  - manager/service.yaml\n")
	assert.Contains(t, read(t, dir, "config/manager/deployment.yaml"), "            - name: webhooks\n              containerPort: 9443\n")
	assert.Contains(t, read(t, dir, "internal/guestbook/webhooks_test.go"), "reconciletest.Admission(Webhooks())", "the harness asks them")
	service := read(t, dir, "config/manager/service.yaml")
	for _, want := range []string{"  name: guestbook-operator\n", "publishNotReadyAddresses: true\n", "port: 443\n", "targetPort: 9443\n"} {
		assert.Contains(t, service, want)
	}

	edit(t, dir, "internal/guestbook/webhooks.go", "can't be changed", "stays")
	before := tree(t, dir)
	again := done(t, "add", "webhook", "Guestbook", "--dir", dir)
	assert.Equal(t, "exists    the program's webhooks of example.com/guestbook-operator/internal/guestbook\n"+
		"exists    internal/guestbook/webhooks.go\nexists    internal/guestbook/webhooks_test.go\n", again)
	assert.Equal(t, before, tree(t, dir), "again: nothing changes")

	done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	said = done(t, "add", "webhook", "Backup", "--dir", dir)
	assert.Contains(t, said, "exists    config/manager/service.yaml\n", "one Service is for all kinds")
	assert.Contains(t, read(t, dir, "main.go"), "\top.Admit(guestbook.Webhooks())\n\top.Admit(backup.Webhooks())\n")
}

// A project with webhooks is up to date, and so is one whose operator has got another name.
func TestUpdateOfWebhooks(t *testing.T) {
	t.Parallel()
	for _, renamed := range []bool{false, true} {
		dir := operator(t)
		if renamed {
			edit(t, dir, "main.go", `full.New("guestbook-operator")`, `full.New("book-operator")`)
		}
		done(t, "add", "webhook", "Guestbook", "--dir", dir)
		done(t, "add", "version", "Guestbook", "v2", "--no-generate", "--dir", dir)
		if renamed {
			assert.Contains(t, read(t, dir, "config/manager/service.yaml"), "  name: book-operator\n")
		}
		git(t, dir, "init", "-q")
		commit(t, dir)
		before := tree(t, dir)
		said := done(t, "update", "--dir", dir, "--no-tidy")
		assert.True(t, strings.HasPrefix(said, "\nNext:\n"), said)
		assert.Empty(t, git(t, dir, "status", "--porcelain"))
		assert.Equal(t, before[record.BaseFile], read(t, dir, record.BaseFile))
	}
}

// A kind that operkit hasn't found a controller of: its package is the one that a controller would have.
func TestAddWebhookWithoutController(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "internal/guestbook")))
	said := done(t, "add", "webhook", "Guestbook", "--dir", dir)
	assert.Contains(t, said, "created   internal/guestbook/webhooks.go\n")
	assert.NotContains(t, read(t, dir, "internal/guestbook/webhooks_test.go"), "Controller")
	isGo(t, dir)
}

// An older project gets what there is a place for. The rest is printed.
func TestAddWebhookToAnotherShape(t *testing.T) {
	t.Parallel()
	dir := older(t)
	edit(t, dir, "main.go", "\top.Control(guestbook.Controller{})\n\top.Main()\n", "\top.Control(guestbook.Controller{})\n\tos.Exit(op.Execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))\n")
	write(t, dir, "config/kustomization.yaml", "resources: [crd, rbac, manager]\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "config/manager/deployment.yaml")))
	said := done(t, "add", "webhook", "Guestbook", "--dir", dir)
	assert.Contains(t, said, `
Add this by hand, because operkit didn't find the place for it:
  config/kustomization.yaml
    resources:
      - manager/service.yaml
      - rbac/webhooks.yaml
  config/manager/deployment.yaml
    ports:
      - name: webhooks
        containerPort: 9443
  Makefile, where the operator is run:
    --webhooks.address 127.0.0.1:9443 --webhooks.url https://127.0.0.1:9443
`)
	assert.Contains(t, read(t, dir, "main.go"), "\top.Admit(guestbook.Webhooks())\n")
	write(t, dir, "main.go", "package main\n\nimport \"github.com/operkit/operkit/operator/full\"\n\nvar op = full.New(\"guestbook-operator\")\n\nfunc main() {}\n")
	said = done(t, "add", "webhook", "Guestbook", "--dir", dir)
	assert.Contains(t, said, "  main.go\n    op.Admit(guestbook.Webhooks()), and import \"example.com/guestbook-operator/internal/guestbook\"\n")
	assert.NotContains(t, said, "created", "until it is done it is told")
}

func TestBadWebhooksAndVersions(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for _, row := range []struct {
		reason string
		change func(t *testing.T, dir string)
		args   []string
		want   string
	}{
		{"no kind", nil, []string{"webhook"}, "operkit add webhook: an argument is missing: give KIND, such as Guestbook"},
		{"no version", nil, []string{"version", "Guestbook"}, "operkit add version: an argument is missing: give KIND and VERSION, such as Guestbook v2"},
		{"one more", nil, []string{"version", "Guestbook", "v2", "v3"}, `unexpected argument "v3"`},
		{"a kind that isn't one", nil, []string{"webhook", "guestbook"}, `kind "guestbook": `},
		{"a kind that the operator hasn't", nil, []string{"webhook", "Backup"}, "kind Backup: the operator has no Go types of it: it has Guestbook: use one of these, or run 'operkit add kind Backup'"},
		{"the same for a version", nil, []string{"version", "Backup", "v2"}, "kind Backup: "},
		{"the same for a conversion", nil, []string{"conversion", "Backup"}, "kind Backup: "},
		{"a group that the kind hasn't", nil, []string{"webhook", "Guestbook", "--group", "other.example.com"}, "no Go types of it in the group other.example.com"},
		{"a version that isn't one", nil, []string{"version", "Guestbook", "2.0"}, `version "2.0": write it as Kubernetes does: v1, v1beta2, v2alpha1, such as v2`},
		{"the only version", nil, []string{"version", "Guestbook", "v1"}, "version v1: Guestbook has it already, and no other: name a new one, such as v2"},
		{"an original that isn't there", nil, []string{"version", "Guestbook", "v3", "--from", "v2"}, "--from v2: Guestbook has the versions v1"},
		{"nothing to convert", nil, []string{"conversion", "Guestbook"}, "kind Guestbook: v1 is its only version: add another one by 'operkit add version Guestbook v2'"},
		{"outside of an operator", nil, []string{"webhook", "Guestbook", "--dir", outside}, "isn't in an operator"},
		{"the same for a version", nil, []string{"version", "Guestbook", "v2", "--dir", outside}, "isn't in an operator"},
		{"the same for a conversion", nil, []string{"conversion", "Guestbook", "--dir", outside}, "isn't in an operator"},
		{"Go that isn't Go", func(t *testing.T, dir string) { write(t, dir, "internal/guestbook/x.go", "packag x\n") },
			[]string{"webhook", "Guestbook"}, "fix this file first: "},
		{"a file with another content", func(t *testing.T, dir string) {
			write(t, dir, "internal/guestbook/webhooks.go", "package guestbook\n\ntype webhooks struct{}\n")
		}, []string{"webhook", "Guestbook"}, "kind Guestbook: internal/guestbook/webhooks.go exists, but declares no Webhooks: rename that file"},
		{"a name that is taken", func(t *testing.T, dir string) {
			write(t, dir, "internal/guestbook/names.go", "package guestbook\n\nvar creator = 1\n")
		}, []string{"webhook", "Guestbook"}, "kind Guestbook: internal/guestbook/names.go declares creator already, which webhooks.go needs: rename one of them"},
		{"a component of that name", func(t *testing.T, dir string) { done(t, "add", "component", "conversion", "--dir", dir) },
			[]string{"version", "Guestbook", "v2", "--no-generate"}, "kind Guestbook: internal/guestbook/conversion.go exists, but declares no Conversion: rename that file"},
		{"no name of the operator", func(t *testing.T, dir string) {
			edit(t, dir, "main.go", `full.New("guestbook-operator")`, `full.New(name)`)
		}, []string{"webhook", "Guestbook"}, `main.go: calls no full.New("NAME") of operkit's package operator/full: the Service needs the operator's name`},
		{"a name that no Service may have", func(t *testing.T, dir string) {
			edit(t, dir, "main.go", `full.New("guestbook-operator")`, `full.New("Guestbooks")`)
		}, []string{"webhook", "Guestbook"}, `main.go: name "Guestbooks": `},
		{"two kinds in a file", func(t *testing.T, dir string) {
			text := read(t, dir, "api/v1/guestbook_types.go")
			write(t, dir, "api/v1/guestbook_types.go", text+"\ntype Page struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n")
		}, []string{"version", "Guestbook", "v2"}, "is a file of Guestbook and of Page: move what belongs to Page into a file of its own"},
		{"no variable with the kind", func(t *testing.T, dir string) {
			edit(t, dir, "api/v1/guestbook_types.go", "var GuestbookKind", "var TheKind")
		}, []string{"version", "Guestbook", "v2"}, "kind Guestbook: api/v1 declares no GuestbookKind: add\n  var GuestbookKind = schema.GroupVersionKind{Group: \"example.com\", Version: \"v1\", Kind: \"Guestbook\"}"},
		{"a version that isn't a text", func(t *testing.T, dir string) {
			edit(t, dir, "api/v1/guestbook_types.go", `Version: "v1"`, `Version: version`)
		}, []string{"version", "Guestbook", "v2"}, `kind Guestbook: api/v1 has no text "v1" in the value of GuestbookKind`},
		{"a type of the new version", func(t *testing.T, dir string) {
			write(t, dir, "api/v2/spec.go", "// +groupName=example.com\npackage v2\n\ntype GuestbookSpec struct{}\n")
		}, []string{"version", "Guestbook", "v2"}, "kind Guestbook: api/v2/spec.go declares GuestbookSpec already, which the copy of guestbook_types.go declares, too: rename one of them"},
		{"a file of the new version", func(t *testing.T, dir string) {
			write(t, dir, "api/v2/guestbook_types.go", "// +groupName=example.com\npackage v2\n")
		}, []string{"version", "Guestbook", "v2"}, "kind Guestbook: api/v2/guestbook_types.go exists, but declares no Guestbook: rename that file"},
		{"a record of a newer program", func(t *testing.T, dir string) {
			edit(t, dir, record.AnswersFile, "kinds:", "more: true\nkinds:")
		}, []string{"version", "Guestbook", "v2"}, ".operkit/answers.yaml: was written by operkit"},
	} {
		dir := operator(t)
		if row.change != nil {
			row.change(t, dir)
		}
		before := tree(t, dir)
		args := append([]string{"add"}, row.args...)
		if !strings.Contains(strings.Join(args, " "), "--dir") {
			args = append(args, "--dir", dir)
		}
		r := execute(t, args...)
		assert.Equal(t, 2, r.code, "%s: %s", row.reason, r.stderr)
		assert.Empty(t, r.stdout, row.reason)
		assert.Contains(t, r.stderr, row.want, row.reason)
		assert.Equal(t, before, tree(t, dir), "%s: nothing is written", row.reason)
	}
}
