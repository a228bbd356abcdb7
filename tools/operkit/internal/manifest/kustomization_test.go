package manifest_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const kustomization = `# This installs the operator.
kind: Kustomization
resources:
  - crd/example.com_guestbooks.yaml
  - rbac/role.yaml
images:
  - name: x
`

func TestAddResource(t *testing.T) {
	t.Parallel()
	const file = "crd/example.com_backups.yaml"
	for _, row := range []struct{ reason, before, want string }{
		{"behind the others", kustomization, "  - crd/example.com_guestbooks.yaml\n  - crd/example.com_backups.yaml\n  - rbac/role.yaml\n"},
		{"another indentation", strings.ReplaceAll(kustomization, "\n  - ", "\n- "), "\n- crd/example.com_guestbooks.yaml\n- crd/example.com_backups.yaml\n- rbac"},
		{"a comment behind", strings.Replace(kustomization, "books.yaml\n", "books.yaml # the first\n", 1), "# the first\n  - crd/example.com_backups.yaml\n"},
	} {
		text, changed, err := manifest.AddResource([]byte(row.before), file)
		require.NoError(t, err, row.reason)
		assert.True(t, changed, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		again, changed, err := manifest.AddResource(text, file)
		require.NoError(t, err, row.reason)
		assert.False(t, changed, row.reason)
		assert.Equal(t, string(text), string(again), row.reason)
	}
	text, changed, err := manifest.AddResource([]byte(kustomization), "rbac/webhooks.yaml")
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Contains(t, string(text), "  - rbac/role.yaml\n  - rbac/webhooks.yaml\nimages:", "behind those of its folder")
	for reason, text := range map[string]string{
		"no YAML":                   "resources: [",
		"no definition":             "resources:\n  - rbac/role.yaml\n",
		"a folder":                  "resources:\n  - crd\n",
		"on one line":               "resources: [crd/example.com_guestbooks.yaml]\n",
		"in another list":           "resources: []\nothers:\n  - crd/a.yaml\n",
		"in a text that looks like": "resources: []\ntext: |\n  - crd/a.yaml\n",
	} {
		_, _, err := manifest.AddResource([]byte(text), file)
		assert.ErrorIs(t, err, manifest.ErrNoPlace, reason)
	}
}

func TestAddPatch(t *testing.T) {
	t.Parallel()
	const file = "conversion/example.com_backups.yaml"
	const patched = kustomization + "patches:\n- path: conversion/a.yaml\n  target: {kind: CustomResourceDefinition}\n- path: conversion/b.yaml\n"
	for _, row := range []struct{ reason, before, want string }{
		{"the first", kustomization, "  - name: x\npatches:\n  - path: conversion/example.com_backups.yaml\n"},
		{"behind the others", patched, "- path: conversion/b.yaml\n- path: conversion/example.com_backups.yaml\n"},
	} {
		text, changed, err := manifest.AddPatch([]byte(row.before), file)
		require.NoError(t, err, row.reason)
		assert.True(t, changed, row.reason)
		assert.Contains(t, string(text), row.want, row.reason)
		again, changed, err := manifest.AddPatch(text, file)
		require.NoError(t, err, row.reason)
		assert.False(t, changed, row.reason)
		assert.Equal(t, string(text), string(again), row.reason)
	}
	for reason, text := range map[string]string{
		"no YAML":                    "patches: [",
		"no line feed at the end":    "kind: Kustomization",
		"patches of another folder":  "patches:\n- path: crd/a.yaml\n",
		"patches in the file itself": "patches:\n- patch: |-\n    kind: ConfigMap\n",
		"an empty list":              "patches: []\n",
		"an item with another field": "patches:\n- path: conversion/a.yaml\n  target: {kind: CustomResourceDefinition}\n",
	} {
		_, _, err := manifest.AddPatch([]byte(text), file)
		assert.ErrorIs(t, err, manifest.ErrNoPlace, reason)
	}
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	text, err := manifest.Definition([]byte("kind: B\napiVersion: a\nspec: {number: 2147483648, long: " + strings.Repeat("word ", 30) + "}\n"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "---\napiVersion: a\nkind: B\nspec:\n  long: word word"), string(text))
	assert.Contains(t, string(text), "\n    word", "long lines are broken")
	assert.Contains(t, string(text), "number: 2147483648\n", "whole numbers stay whole")
	again, err := manifest.Definition(text)
	require.NoError(t, err)
	assert.Equal(t, string(text), string(again))
	_, err = manifest.Definition([]byte("a: 1\na: 2\n"))
	assert.ErrorContains(t, err, "definition: ")
}
