package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write writes files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return folder
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	folder := write(t, map[string]string{
		"b.yaml": "", "a.yml": "", "c/d.json": "", "notes.txt": "", ".hidden.yaml": "", ".github/workflow.yaml": "",
		"..2024/mounted.yaml": "",
	})
	require.NoError(t, os.Symlink("..2024", filepath.Join(folder, "..data")))
	require.NoError(t, os.Symlink("..data/mounted.yaml", filepath.Join(folder, "mounted.yaml")))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(folder, link))
	for name, row := range map[string]struct {
		place string
		want  []string
	}{
		"a folder, a mounted ConfigMap's files once": {folder, []string{"a.yml", "b.yaml", "c/d.json", "mounted.yaml"}},
		"a link to a folder":                         {link, []string{"a.yml", "b.yaml", "c/d.json", "mounted.yaml"}},
		"a hidden folder that is meant":              {filepath.Join(folder, ".github"), []string{"workflow.yaml"}},
		"a file, whatever its name":                  {filepath.Join(folder, "notes.txt"), []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := filesIn(row.place)
			require.NoError(t, err)
			var want []string
			for _, file := range row.want {
				want = append(want, filepath.Join(row.place, file))
			}
			assert.Equal(t, want, found)
		})
	}
}
