package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddVersion(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	said := done(t, "add", "version", "Guestbook", "v2", "--no-generate", "--dir", dir)
	assert.Equal(t, `created   api/v2/doc.go
created   api/v2/guestbook_types.go
created   internal/guestbook/conversion.go
created   internal/guestbook/conversion_test.go
created   config/conversion/example.com_guestbooks.yaml
created   internal/guestbook/conversion_v1.go
edited    api/v1/guestbook_types.go
created   config/manager/service.yaml
created   config/rbac/webhooks.yaml
edited    config/kustomization.yaml
edited    config/manager/deployment.yaml
edited    main.go

Next:
  1. Change the types in api/v2, and what the comments in
     internal/guestbook/conversion_*.go say.
  2. make generate test
v1 stays the version that is stored, and that the controller uses.
`, said)
	isGo(t, dir)
	copied := read(t, dir, "api/v2/guestbook_types.go")
	assert.Equal(t, strings.NewReplacer("package v1", "package v2", `Version: "v1"`, `Version: "v2"`, "// +kubebuilder:storageversion\n", "").Replace(
		read(t, dir, "api/v1/guestbook_types.go")), copied)
	assert.Equal(t, 1, strings.Count(read(t, dir, "api/v1/guestbook_types.go"), "// +kubebuilder:object:root=true\n// +kubebuilder:storageversion\n"))
	assert.Contains(t, read(t, dir, "main.go"), "\top.Control(guestbook.Controller{})\n\top.Convert(guestbook.Conversion())\n\top.Main()\n")

	assert.Contains(t, read(t, dir, "config/conversion/example.com_guestbooks.yaml"), "  name: guestbooks.example.com\n")
	kustomization := read(t, dir, "config/kustomization.yaml")
	assert.Contains(t, kustomization, "    newTag: latest\npatches:\n  - path: conversion/example.com_guestbooks.yaml\n")

	before := tree(t, dir)
	again := done(t, "add", "version", "Guestbook", "v2", "--dir", dir)
	assert.NotContains(t, again, "created")
	assert.NotContains(t, again, "edited")
	assert.NotContains(t, again, "Next")
	assert.Equal(t, again, done(t, "add", "conversion", "Guestbook", "--dir", dir))
	assert.Equal(t, before, tree(t, dir), "again: nothing changes")
}

// The hub stays when a third version comes, and functions that somebody has edited do, too.
func TestAddThirdVersion(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "version", "Guestbook", "v2", "--no-generate", "--dir", dir)
	edit(t, dir, "api/v2/guestbook_types.go", "Replicas int32 `json:\"replicas\"`", "Size int32 `json:\"size\"`")
	edit(t, dir, "internal/guestbook/conversion_v1.go", "to.Spec.Replicas = from.Spec.Replicas", "to.Spec.Size = from.Spec.Replicas")
	edited := read(t, dir, "internal/guestbook/conversion_v1.go")
	said := done(t, "add", "version", "Guestbook", "v3", "--from", "v2", "--no-generate", "--dir", dir)
	isGo(t, dir)
	assert.Contains(t, said, "created   internal/guestbook/conversion_v3.go\n")
	assert.NotContains(t, said, "conversion_v1.go")
	assert.Contains(t, said, "edited    internal/guestbook/conversion.go\n")
	assert.Equal(t, edited, read(t, dir, "internal/guestbook/conversion_v1.go"))
	assert.NotContains(t, read(t, dir, "api/v3/guestbook_types.go"), "storageversion")
	conversion := read(t, dir, "internal/guestbook/conversion.go")
	assert.Contains(t, conversion, "\tv3 \"example.com/guestbook-operator/api/v3\"\n")
	assert.Contains(t, conversion, "\tconversion.Add(converter, v3.GuestbookKind, conversion.Functions[v3.Guestbook, v2.Guestbook]{Up: upFromV3, Down: downToV3})\n\treturn converter\n")
	assert.Contains(t, read(t, dir, "internal/guestbook/conversion_v3.go"), "func upFromV3(from *v3.Guestbook, to *v2.Guestbook) error {\n\tto.Spec.Size = from.Spec.Size\n")

	done(t, "add", "version", "Guestbook", "v1beta1", "--from", "v1", "--no-generate", "--dir", dir)
	assert.Contains(t, read(t, dir, "internal/guestbook/conversion_v1beta1.go"),
		"func upFromV1beta1(from *v1beta1.Guestbook, to *v2.Guestbook) error {\n\t// TODO: set to.Spec.Size: v1beta1 has no equal field.\n")
	assert.Equal(t, 1, strings.Count(read(t, dir, "main.go"), "op.Convert("))
}

// A stable version stays the hub of an experimental one.
func TestAddExperimentalVersion(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "version", "Guestbook", "v2alpha1", "--no-generate", "--dir", dir)
	assert.Contains(t, read(t, dir, "internal/guestbook/conversion.go"), "conversion.New[v1.Guestbook](v1.GuestbookKind)")
	assert.FileExists(t, filepath.Join(dir, "internal/guestbook/conversion_v2alpha1.go"))
}

// What a kind uses of its package is copied with it, and nothing of other kinds.
func TestAddVersionOfSeveralFiles(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "kind", "Backup", "--no-generate", "--dir", dir)
	edit(t, dir, "api/v1/guestbook_types.go", "\tImage string `json:\"image\"`", "\tImage string `json:\"image\"`\n\t// Doors are in the order of the walls.\n\tDoors []Door `json:\"doors,omitempty\"`")
	write(t, dir, "api/v1/door.go", "package v1\n\n// Door is one.\ntype Door struct {\n\tColour Colour `json:\"colour\"`\n}\n")
	write(t, dir, "api/v1/colour.go", "package v1\n\n// Colour is one.\ntype Colour string\n")
	write(t, dir, "api/v1/more.go", "package v1\n\n// Unused is for others.\ntype Unused string\n")
	said := done(t, "add", "version", "Guestbook", "v2", "--no-generate", "--dir", dir)
	assert.Contains(t, said, "created   api/v2/door.go\n")
	assert.Contains(t, said, "created   api/v2/colour.go\n")
	for _, other := range []string{"more.go", "backup_types.go", "zz_generated.deepcopy.go"} {
		assert.NoFileExists(t, filepath.Join(dir, "api/v2", other))
	}
	assert.Contains(t, read(t, dir, "internal/guestbook/conversion_v1.go"), "func upDoorFromV1(from *v1.Door, to *v2.Door) {\n\tto.Colour = v2.Colour(from.Colour)\n}\n")
	isGo(t, dir)

	done(t, "add", "version", "Backup", "v2", "--no-generate", "--dir", dir)
	assert.Contains(t, read(t, dir, "config/kustomization.yaml"),
		"patches:\n  - path: conversion/example.com_guestbooks.yaml\n  - path: conversion/example.com_backups.yaml\n")
	assert.FileExists(t, filepath.Join(dir, "api/v2/backup_types.go"))
	assert.Contains(t, read(t, dir, "main.go"), "\top.Convert(guestbook.Conversion())\n\top.Convert(backup.Conversion())\n")
}

// An older project makes definitions from one folder at a time: the last would leave out all other versions.
func TestAddVersionToAnOlderProject(t *testing.T) {
	t.Parallel()
	dir := older(t)
	said := done(t, "add", "version", "Guestbook", "v1beta1", "--no-generate", "--dir", dir)
	assert.Contains(t, said, "edited    api/v1/doc.go\n")
	const line = "//go:generate go tool controller-gen object crd paths=../../api/... output:crd:dir=../../config/crd\n"
	assert.Contains(t, read(t, dir, "api/v1/doc.go"), line)
	assert.Contains(t, read(t, dir, "api/v1beta1/doc.go"), line)
	assert.Contains(t, read(t, dir, "internal/guestbook/conversion.go"), "conversion.New[v1.Guestbook]")
}

// Versions that somebody has written without operkit.
func TestAddConversion(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	text := strings.NewReplacer("package v1", "package v2", `Version: "v1"`, `Version: "v2"`, "Image string", "Picture string").Replace(read(t, dir, "api/v1/guestbook_types.go"))
	write(t, dir, "api/v2/guestbook_types.go", text)
	write(t, dir, "api/v2/doc.go", "// Package v2 is mine.\n//\n// +groupName=example.com\npackage v2\n")
	edit(t, dir, "internal/guestbook/controller.go", `api/v1"`, `api/v2"`)
	edit(t, dir, "internal/guestbook/server.go", `api/v1"`, `api/v2"`)
	said := done(t, "add", "conversion", "Guestbook", "--no-generate", "--dir", dir)
	isGo(t, dir)
	assert.Contains(t, said, "edited    api/v2/guestbook_types.go\n", "the controller uses this version")
	assert.Contains(t, said, "v2 stays the version that is stored")
	functions := read(t, dir, "internal/guestbook/conversion_v1.go")
	assert.Contains(t, functions, "\t// TODO: set to.Spec.Picture: v1 has no equal field.\n")
	assert.Contains(t, functions, "\t// TODO: set to.Spec.Image: v2 has no equal field.\n")
	assert.Contains(t, functions, "\tto.Spec.Replicas = from.Spec.Replicas\n")
}

// An edited conversion stays as it is, and the line is printed.
func TestAddVersionToAnotherShape(t *testing.T) {
	t.Parallel()
	dir := operator(t)
	done(t, "add", "version", "Guestbook", "v2", "--no-generate", "--dir", dir)
	edit(t, dir, "internal/guestbook/conversion.go", "\treturn converter\n", "\treturn checked(converter)\n")
	edit(t, dir, "api/v1/guestbook_types.go", "// +kubebuilder:object:root=true\n// +kubebuilder:storageversion\n", "")
	before := read(t, dir, "internal/guestbook/conversion.go")
	said := done(t, "add", "version", "Guestbook", "v3", "--no-generate", "--dir", dir)
	_, byHand, found := strings.Cut(said, "\nAdd this by hand, because operkit didn't find the place for it:\n")
	require.True(t, found, said)
	assert.Contains(t, byHand, "  api/v1/guestbook_types.go\n    // +kubebuilder:storageversion, in the comment of the type Guestbook\n")
	assert.Contains(t, byHand, "  internal/guestbook/conversion.go\n    conversion.Add(converter, v3.GuestbookKind, conversion.Functions[v3.Guestbook, v2.Guestbook]{Up: upFromV3, Down: downToV3})\n")
	assert.Equal(t, before, read(t, dir, "internal/guestbook/conversion.go"))
}

// What the go command says is printed, and the files stay.
func TestAddVersionThatCantBeGenerated(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	dir := operator(t)
	r := execute(t, "add", "version", "Guestbook", "v2", "--dir", dir)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "edited    main.go\n")
	assert.True(t, strings.HasSuffix(r.stderr, "run:\n  cd "+dir+" && go generate ./api/v2\n"), r.stderr)
}
