package api_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/release/internal/api"
	"github.com/operkit/operkit/tools/release/internal/version"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("go.mod", "module example.com/a\n\ngo 1.26.0\n")
	for name, text := range files {
		write(name, text)
	}
	return dir
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const one, two = "package a\n\nfunc F() {}\n\ntype T struct{ X int }\n", "package b\n\nfunc G() {}\n"
	base := map[string]string{"a.go": one, "b/b.go": two, "internal/c/c.go": "package c\n\nfunc H() {}\n", "cmd/x/main.go": "package main\n\nfunc Main() {}\n\nfunc main() {}\n"}
	for _, row := range []struct {
		reason, name, text string
		want               api.Difference
		change             version.Change
	}{
		{"nothing", "a.go", one, api.Difference{}, version.None},
		{"what isn't exported", "a.go", one + "\nfunc f() {}\n", api.Difference{}, version.None},
		{"something new, in the order of names", "a.go", one + "\nfunc Z() {}\n\nfunc B() {}\n", api.Difference{Added: []string{"B: added", "Z: added"}}, version.Added},
		{"a new field", "a.go", "package a\n\nfunc F() {}\n\ntype T struct{ X, Y int }\n", api.Difference{Added: []string{"T.Y: added"}}, version.Added},
		{"something gone and something new", "a.go", "package a\n\nfunc F() {}\n\nfunc N() {}\n", api.Difference{Breaking: []string{"T: removed"}, Added: []string{"N: added"}}, version.Breaking},
		{"another signature in a package below", "b/b.go", "package b\n\nfunc G(int) {}\n",
			api.Difference{Breaking: []string{"./b.G: changed from func() to func(int)"}}, version.Breaking},
		{"a package gone", "b/b.go", "", api.Difference{Breaking: []string{"package example.com/a/b: removed"}}, version.Breaking},
		{"an internal package", "internal/c/c.go", "package c\n", api.Difference{}, version.None},
		{"a command", "cmd/x/main.go", "package main\n\nfunc main() {}\n", api.Difference{}, version.None},
		{"a command that can't be compiled, and needn't", "cmd/x/main.go", "package main\n\nfunc main() { gone() }\n", api.Difference{}, version.None},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, text := range base {
				files[name] = text
			}
			if files[row.name] = row.text; row.text == "" {
				delete(files, row.name)
			}
			got, err := api.Compare(t.Context(), "example.com/a", folder(t, base), folder(t, files))
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.change, got.Change())
		})
	}
}
