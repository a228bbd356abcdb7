package repotest

import (
	_ "embed" // of the files of Standard
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/operkit/operkit/tools/check/repository"
)

// Prefix is the beginning of the modules' paths.
const Prefix = "example.com/kit/"

// Changelog is a changelog with an empty section Unreleased.
const Changelog = "# Changelog\n\n## Unreleased\n"

// Files are contents by paths, with slashes.
type Files map[string]string

// Repository is a working tree.
type Repository struct {
	t    testing.TB
	Root string
}

// New makes a repository on the branch main with one commit of the files.
func New(t testing.TB, files Files) *Repository {
	t.Helper()
	r := &Repository{t, filepath.Join(t.TempDir(), "kit")}
	if err := os.Mkdir(r.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git("init", "--quiet", "--initial-branch=main")
	r.Git("config", "user.name", "Kit")
	r.Git("config", "user.email", "kit@example.com")
	r.Write(files)
	r.Commit("begin")
	return r
}

//go:embed standard.txtar
var standard []byte

// Standard returns the files of a repository in which top requires middle, middle requires ground, and aside is alone.
// These four are released modules; scratch requires top and isn't released.
func Standard() Files {
	files := Files{}
	for _, file := range txtar.Parse(standard).Files {
		files[file.Name] = string(file.Data)
	}
	return files
}

// Mod returns the go.mod of a module in a folder, with replace lines to the folders of the modules that it requires.
// "ground // indirect" is a requirement with that comment.
func Mod(dir string, requires ...string) string {
	up := strings.Repeat("../", strings.Count(dir, "/")+1)
	text := "module " + Prefix + dir + "\n\ngo 1.26.0\n"
	for _, sibling := range requires {
		name, comment, _ := strings.Cut(sibling, " ")
		requirement := strings.TrimSpace(Prefix + name + " v0.0.0 " + comment)
		text += fmt.Sprintf("\nrequire %s\n\nreplace %s%s => %s%s\n", requirement, Prefix, name, up, name)
	}
	return text
}

// Git runs git and returns its output.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes files. It removes a file whose content is empty.
func (r *Repository) Write(files Files) {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if text == "" {
			if err := os.Remove(path); err != nil {
				r.t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Commit commits all changes.
func (r *Repository) Commit(message string) {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
}

// Tag tags HEAD.
func (r *Repository) Tag(names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.Git("tag", "--annotate", "--message", name, name)
	}
}

// Day returns the day of releases in tests.
func (r *Repository) Day() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

// Open reads the modules as they are now.
func (r *Repository) Open() *repository.Repository {
	r.t.Helper()
	opened, err := repository.At(r.Root)
	if err != nil {
		r.t.Fatal(err)
	}
	return opened
}
