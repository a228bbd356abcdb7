package update_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/update"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are files by their paths: "a.txt=one two" has two lines.
func files(given ...string) (files []project.File) {
	for _, one := range given {
		path, words, _ := strings.Cut(one, "=")
		files = append(files, project.File{Path: path, Text: []byte(strings.ReplaceAll(words, " ", "\n") + "\n")})
	}
	return files
}

// contents are the files below dir in the form of files.
func contents(t *testing.T, dir string) (contents []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		contents = append(contents, name+"="+strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", " "))
		return err
	}))
	return contents
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason           string
		base, ours, next []string
		changes, want    []string
	}{
		{"nobody has changed anything", []string{"a=1"}, []string{"a=1"}, []string{"a=1"}, nil, []string{"a=1"}},
		{"a person has", []string{"a=1"}, []string{"a=2"}, []string{"a=1"}, nil, []string{"a=2"}},
		{"the scaffold has", []string{"a=1"}, []string{"a=1"}, []string{"a=2"}, []string{"updated a"}, []string{"a=2"}},
		{"both have, in the same way", []string{"a=1"}, []string{"a=2"}, []string{"a=2"}, nil, []string{"a=2"}},
		{"both have, the person more", []string{"a=1 - - - 5"}, []string{"a=2 - - - 6"}, []string{"a=2 - - - 5"}, nil, []string{"a=2 - - - 6"}},
		{"both have, different lines", []string{"a=1 - - - 5"}, []string{"a=2 - - - 5"}, []string{"a=1 - - - 6"}, []string{"merged a"}, []string{"a=2 - - - 6"}},
		{"both have, the same line", []string{"a=1 -"}, []string{"a=2 -"}, []string{"a=3 -"}, []string{"conflict a"},
			[]string{"a=<<<<<<< yours 2 ======= 3 >>>>>>> new -"}},
		{"a new file", nil, nil, []string{"d/a=1"}, []string{"created d/a"}, []string{"d/a=1"}},
		{"a new file that a person has already", nil, []string{"a=1"}, []string{"a=1"}, nil, []string{"a=1"}},
		{"a new file in the place of another", nil, []string{"a=1"}, []string{"a=2"}, []string{"conflict a"},
			[]string{"a=<<<<<<< yours 1 ======= 2 >>>>>>> new"}},
		{"a file that a person has deleted", []string{"a=1"}, nil, []string{"a=2"}, []string{"skipped a"}, nil},
		{"a file that a person has deleted, and the scaffold hasn't changed", []string{"a=1"}, nil, []string{"a=1"}, nil, nil},
		{"a file that a person has renamed", []string{"a=1"}, []string{"b=1"}, []string{"a=2"}, []string{"skipped a"}, []string{"b=1"}},
		{"a new test of a file that a person has deleted", []string{"a.go=1", "c.go=1"}, []string{"c.go=1"}, []string{"a.go=1", "a_test.go=2", "c.go=1", "c_test.go=3"},
			[]string{"skipped a_test.go", "created c_test.go"}, []string{"c.go=1", "c_test.go=3"}},
		{"a new file in a folder that a person has deleted", []string{"c=1", "d/a=1"}, []string{"c=1"}, []string{"c=1", "d/a=1", "d/b=2"}, []string{"skipped d/b"}, []string{"c=1"}},
		{"both have, and it isn't text", []string{"a=1", "b=1"}, []string{"a=\x002", "b=1"}, []string{"a=3", "b=2"}, []string{"kept a", "updated b"}, []string{"a=\x002", "b=2"}},
		{"a file that is moved, with edits, and isn't text", []string{"a.go=1 2 3 4"}, []string{"a.go=\x00 2 3 4"}, []string{"b.go=1 2 3 5"}, []string{"kept a.go"}, []string{"a.go=\x00 2 3 4"}},
		{"a file that is dropped", []string{"a=1"}, []string{"a=1"}, nil, []string{"removed a"}, nil},
		{"a file that is dropped, with edits", []string{"a=1"}, []string{"a=2"}, nil, []string{"kept a"}, []string{"a=2"}},
		{"a file that is dropped, and was deleted", []string{"a=1"}, nil, nil, nil, nil},
		{"a file that is moved", []string{"a.go=1 2 3 4"}, []string{"a.go=1 2 3 4"}, []string{"b.go=1 2 3 5"}, []string{"updated b.go from a.go"}, []string{"b.go=1 2 3 5"}},
		{"a file that is moved, with edits", []string{"a.go=1 2 3 4"}, []string{"a.go=0 2 3 4"}, []string{"b.go=1 2 3 5"}, []string{"merged b.go from a.go"}, []string{"b.go=0 2 3 5"}},
		{"a file that is moved, and was deleted", []string{"a.go=1 2 3 4"}, nil, []string{"b.go=1 2 3 5"}, []string{"skipped b.go"}, nil},
		{"a file that is moved to a place that is taken", []string{"a.go=1 2 3 4"}, []string{"a.go=1 2 3 4", "b.go=mine"}, []string{"b.go=1 2 3 4"},
			[]string{"removed a.go", "conflict b.go"}, []string{"b.go=<<<<<<< yours mine ======= 1 2 3 4 >>>>>>> new"}},
		{"another file with another end", []string{"a.go=1 2 3 4"}, []string{"a.go=1 2 3 4"}, []string{"b.md=1 2 3 4"}, []string{"removed a.go", "created b.md"}, []string{"b.md=1 2 3 4"}},
		{"another file with other lines", []string{"a.go=1 2 3 4"}, []string{"a.go=1 2 3 4"}, []string{"b.go=5 6 7 4"}, []string{"removed a.go", "created b.go"}, []string{"b.go=5 6 7 4"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, project.Create(dir, files(row.ours...)))
			changes, err := update.Merge(t.Context(), dir, files(row.base...), files(row.next...), [2]string{"old", "new"})
			require.NoError(t, err)
			var said []string
			for _, change := range changes {
				text := string(change.Outcome) + " " + change.Path
				if change.From != "" {
					text += " from " + change.From
				}
				said = append(said, text)
				assert.Equal(t, change.Outcome == project.Kept || change.Outcome == update.Skipped, change.Why != "", "there is a reason to say")
			}
			assert.Equal(t, row.changes, said)
			assert.Equal(t, row.ours, contents(t, dir), "it is only a plan")
			for _, change := range changes {
				require.NoError(t, change.Apply(dir))
			}
			assert.Equal(t, row.want, contents(t, dir))
		})
	}
}

func TestMergeFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	_, err := update.Merge(t.Context(), dir, nil, files("a=1"), [2]string{})
	assert.ErrorContains(t, err, "a: is a directory")
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := update.Uncommitted(t.Context(), t.TempDir())
	assert.ErrorContains(t, err, "there is no git command in PATH: install git")
}

func TestUncommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := update.Uncommitted(t.Context(), dir)
	require.ErrorIs(t, err, update.ErrNoRepository)
	git := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, string(output))
	}
	require.NoError(t, project.Create(dir, files("project/a=1", "other/b=1", "project/.gitignore=ignored")))
	git("init", "-q")
	below := filepath.Join(dir, "project")
	uncommitted, err := update.Uncommitted(t.Context(), below)
	require.NoError(t, err)
	assert.Equal(t, []string{"project/.gitignore", "project/a"}, uncommitted)
	git("config", "status.showUntrackedFiles", "no")
	uncommitted, err = update.Uncommitted(t.Context(), below)
	require.NoError(t, err)
	assert.Len(t, uncommitted, 2, "whatever git is told to show")
	git("add", ".")
	git("commit", "-qm", "all")
	require.NoError(t, project.Create(dir, files("project/ignored=1", "other/c=1")))
	uncommitted, err = update.Uncommitted(t.Context(), below)
	require.NoError(t, err)
	assert.Empty(t, uncommitted, "ignored files, and files outside of the project")
	for file, want := range map[string]bool{"a": true, "ignored": false} {
		tracked, err := update.Tracked(t.Context(), below, file)
		require.NoError(t, err)
		assert.Equal(t, want, tracked, file)
	}
	require.NoError(t, project.Replace(filepath.Join(below, "a"), []byte("2\n")))
	uncommitted, err = update.Uncommitted(t.Context(), below)
	require.NoError(t, err)
	assert.Equal(t, []string{"project/a"}, uncommitted)
}

// What git says is passed on, unless there is no repository.
func TestRepositoryThatGitRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, project.Create(dir, files(".git=nonsense")))
	_, err := update.Uncommitted(t.Context(), dir)
	require.NotErrorIs(t, err, update.ErrNoRepository)
	require.ErrorContains(t, err, "invalid gitfile format")
	_, err = update.Tracked(t.Context(), dir, "a")
	require.ErrorContains(t, err, "invalid gitfile format")
}
