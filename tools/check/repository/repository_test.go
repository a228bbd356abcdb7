package repository_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

func TestOpenFindsModules(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "tools/check", "tools/peers/dag"}, repotest.Files{
		"tools/check/testdata/fixture/go.mod": "module fixture\n",
		".cache/copy/go.mod":                  "module copy\n",
		"_old/go.mod":                         "module old\n",
		"dag/internal/x/x.go":                 "package x\n",
	})
	var dirs []string
	for _, m := range r.Modules {
		dirs = append(dirs, m.Dir+" "+m.Path)
	}
	want := []string{
		"dag github.com/operkit/operkit/dag",
		"tools/check github.com/operkit/operkit/tools/check",
		"tools/peers/dag github.com/operkit/operkit/tools/peers/dag",
	}
	if !slices.Equal(dirs, want) {
		t.Errorf("modules %q, want %q", dirs, want)
	}
	below, err := repository.Open(filepath.Join(r.Root, "dag", "internal", "x"))
	if err != nil || below.Root != r.Root {
		t.Errorf("opened from a folder below: root %v, error %v; want root %s", below, err, r.Root)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if _, err := repository.Open(outside); err == nil || !strings.Contains(err.Error(), outside+": no go.work") {
		t.Errorf("outside of a repository: %v", err)
	}
	nameless := t.TempDir()
	repotest.Write(t, nameless, repotest.Files{"go.work": "go 1.26.0\n", "dag/go.mod": "go 1.26.0\n"})
	if _, err := repository.Open(nameless); err == nil || !strings.Contains(err.Error(), "no module line") {
		t.Errorf("go.mod without a module line: %v", err)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status", "tools/check"}, nil)
	for _, row := range []struct{ reason, list, want string }{
		{"empty is all", "", "dag status tools/check"},
		{"one", "status", "status"},
		{"several come in the order of the repository, once each", "tools/check,dag,dag", "dag tools/check"},
		{"as a shell completes it", "./tools/check/", "tools/check"},
		{"by its path", "github.com/operkit/operkit/dag", "dag"},
	} {
		chosen, err := repository.Select(r.Modules, row.list)
		if err != nil {
			t.Errorf("%s: %v", row.reason, err)
		}
		var dirs []string
		for _, m := range chosen {
			dirs = append(dirs, m.Dir)
		}
		if got := strings.Join(dirs, " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.reason, got, row.want)
		}
	}
	if _, err := repository.Select(r.Modules, "dag,dug"); err == nil || !strings.Contains(err.Error(), `module "dug"`) || !strings.Contains(err.Error(), "dag, status") {
		t.Errorf("unknown module: %v; want its name and those there are", err)
	}
}

func TestModuleBuild(t *testing.T) {
	t.Parallel()
	base := []string{"GOWORK=/elsewhere/go.work", "GIT_DIR=.git", "CGO_ENABLED=1", "GIT_INDEX_FILE=.git/index", "HOME=/home"}
	for _, row := range []struct {
		reason, dir string
		want        []string
		flags       []string // under the race detector
	}{
		{"in the workspace", "dag", []string{"CGO_ENABLED=1", "HOME=/home", "GOWORK="}, []string{"-race"}},
		{"peers stand alone", "tools/peers/dag", []string{"CGO_ENABLED=1", "HOME=/home", "GOWORK=off"}, []string{"-race"}},
		{"bench stands alone", "tools/bench", []string{"CGO_ENABLED=1", "HOME=/home", "GOWORK=off"}, []string{"-race"}},
		{"the control plane is compiled in one way only", "tools/devcluster", []string{"HOME=/home", "GOWORK=off", "CGO_ENABLED=0"}, []string{"-trimpath", "-gcflags=all=-dwarf=false"}},
	} {
		m := repository.Module{Dir: row.dir}
		if got := m.Environ(base); !slices.Equal(got, row.want) {
			t.Errorf("%s: environment %q, want %q", row.reason, got, row.want)
		}
		if got := m.BuildFlags(true); !slices.Equal(got, row.flags) {
			t.Errorf("%s: flags %q, want %q", row.reason, got, row.flags)
		}
		without := slices.DeleteFunc(slices.Clone(row.flags), func(flag string) bool { return flag == "-race" })
		if got := m.BuildFlags(false); !slices.Equal(got, without) {
			t.Errorf("%s: flags %q without the race detector, want %q", row.reason, got, without)
		}
	}
	if base[0] != "GOWORK=/elsewhere/go.work" || len(base) != 5 {
		t.Errorf("the given environment was changed: %q", base)
	}
}

// Flags that differ in a word have all of Kubernetes compiled once more, and nothing else would tell.
func TestControlPlaneIsCompiledInOneWay(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "tools", "devcluster", "build.env"))
	if err != nil {
		t.Fatal(err)
	}
	controlPlane := repository.Module{Dir: "tools/devcluster"}
	for _, flag := range append(controlPlane.BuildFlags(true), "CGO_ENABLED=0") {
		if !strings.Contains(string(text), flag) {
			t.Errorf("build.env of the control plane doesn't say %s, as the checks do", flag)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	source := "package source\n"
	r := repotest.New(t, []string{"dag", "status", "tools/lint", "tools/peers/dag"}, repotest.Files{
		"dag/dag.go": source, "status/status.go": source, "tools/peers/dag/peer.go": source,
	})
	for _, row := range []struct {
		reason, modules string
		want            []string
	}{
		{"the workspace is one group, whatever is outside is its own, what is empty is in none", "", []string{
			"the workspace at .: GOWORK= ./dag/... ./status/...", "tools/peers/dag at tools/peers/dag: GOWORK=off ./...",
		}},
		{"without a module of the workspace there is no group of it", "tools/peers/dag", []string{"tools/peers/dag at tools/peers/dag: GOWORK=off ./..."}},
		{"no packages, no group", "tools/lint", nil},
	} {
		modules, err := repository.Select(r.Modules, row.modules)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range r.Groups(modules) {
			at, _ := filepath.Rel(r.Root, g.Folder)
			workspace := g.Environ[slices.IndexFunc(g.Environ, func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })]
			got = append(got, g.Subject+" at "+filepath.ToSlash(at)+": "+workspace+" "+strings.Join(g.Patterns, " "))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.reason, got, row.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/a.go": "package dag\n"})
	fingerprint := func() string {
		t.Helper()
		text, err := r.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	path := filepath.Join(r.Root, "dag", "a.go")
	before := fingerprint()
	for _, row := range []struct {
		reason  string
		change  func() error
		differs bool
	}{
		{"nothing has changed", func() error { return nil }, false},
		{"only when it was written", func() error { return os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) }, false},
		{"what is kept between runs", func() error {
			return errors.Join(os.MkdirAll(r.Cache(), 0o755), os.WriteFile(filepath.Join(r.Cache(), "x"), nil, 0o600))
		}, false},
		{"what git keeps", func() error {
			return errors.Join(os.MkdirAll(filepath.Join(r.Root, ".git"), 0o755), os.WriteFile(filepath.Join(r.Root, ".git", "HEAD"), nil, 0o600))
		}, false},
		{"a content", func() error { return os.WriteFile(path, []byte("package dig\n"), 0o600) }, true},
		{"a mode", func() error { return os.Chmod(path, 0o700) }, true},
		{"a new file", func() error { return os.WriteFile(path+".txt", nil, 0o600) }, true},
		{"a name", func() error { return os.Rename(path+".txt", path+".md") }, true},
		{"a file that is gone", func() error { return os.Remove(path) }, true},
	} {
		if err := row.change(); err != nil {
			t.Fatal(err)
		}
		after := fingerprint()
		if (after != before) != row.differs {
			t.Errorf("%s: differs %v, want %v", row.reason, after != before, row.differs)
		}
		before = after
	}
}

func TestGoFiles(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"tools/check", "tools/check/nested", "status"}, repotest.Files{
		"tools/check/main.go":           "package main\n",
		"tools/check/internal/a/a.go":   "package a\n",
		"tools/check/testdata/bad.go":   "no go\n",
		"tools/check/nested/nested.go":  "package nested\n",
		"tools/check/internal/a/a.txt":  "text\n",
		"status/testdata/only/fixed.go": "package fixed\n",
	})
	check, err := repository.Select(r.Modules, "tools/check")
	if err != nil {
		t.Fatal(err)
	}
	files, err := check[0].GoFiles(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		filepath.Join(r.Root, "tools/check/internal/a/a.go"),
		filepath.Join(r.Root, "tools/check/main.go"),
	}
	if !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	if !check[0].HasPackages(r.Root) {
		t.Error("tools/check has packages")
	}
	status, err := repository.Select(r.Modules, "status")
	if err != nil {
		t.Fatal(err)
	}
	if status[0].HasPackages(r.Root) {
		t.Error("status has Go files in testdata only, which are no packages")
	}
}

func TestMembership(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		files  repotest.Files
		want   []string
	}{
		{"in order", nil, nil},
		{
			"a module is missing",
			repotest.Files{"go.work": "go 1.26.0\nuse ./status\n"},
			[]string{"go.work: dag is missing: run go work use ./dag"},
		},
		{
			"peers must stay outside",
			repotest.Files{"go.work": "go 1.26.0\nuse (\n\t./dag\n\t./status\n\t./tools/peers/dag\n)\n"},
			[]string{"go.work: tools/peers/dag must not be in it, because its requirements would change the versions of all modules: run go work edit -dropuse=./tools/peers/dag"},
		},
		{
			"a module is gone",
			repotest.Files{"go.work": "go 1.26.0\nuse (\n\t./dag\n\t./status\n\t./old\n)\n"},
			[]string{"go.work: old is in it, but there is no such module"},
		},
		{
			"a module path that does not follow its folder",
			repotest.Files{"dag/go.mod": "module github.com/operkit/operkit/graph\n"},
			[]string{"dag/go.mod: the module path is github.com/operkit/operkit/graph, but for its folder it must be github.com/operkit/operkit/dag"},
		},
		{
			"all problems are told",
			repotest.Files{"go.work": "go 1.26.0\n"},
			[]string{"go.work: dag is missing: run go work use ./dag", "go.work: status is missing: run go work use ./status"},
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := repotest.New(t, []string{"dag", "status", "tools/devcluster", "tools/bench", "tools/peers/dag"}, row.files)
			got, err := repository.Membership(t.Context(), r, repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Problems, row.want) {
				t.Errorf("got %q, want %q", got.Problems, row.want)
			}
		})
	}
}

func TestMembershipOfBrokenWorkspace(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"go.work": "go 1.26.0\nuze ./dag\n"})
	if _, err := repository.Membership(t.Context(), r, repository.Options{}); err == nil || !strings.Contains(err.Error(), "uze") {
		t.Errorf("error %v, want the one of the go command", err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		".gitignore":   ".cache/\n",
		".cache/x.go":  "package x\n",
		"dag/dag.go":   "package dag\n",
		"dag/gone.go":  "package dag\n",
		"dag/ümlaut.x": "x",
	})
	repotest.Git(t, r.Root)
	before, err := r.Files(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.Root, "dag", "gone.go")); err != nil {
		t.Fatal(err)
	}
	after, err := r.Files(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(before)
	slices.Sort(after)
	if want := []string{".gitignore", "dag/dag.go", "dag/go.mod", "dag/gone.go", "dag/ümlaut.x", "go.work"}; !slices.Equal(before, want) {
		t.Errorf("files %q, want %q", before, want)
	}
	if want := []string{".gitignore", "dag/dag.go", "dag/go.mod", "dag/ümlaut.x", "go.work"}; !slices.Equal(after, want) {
		t.Errorf("after one was deleted: files %q, want %q", after, want)
	}
}

func TestFilesWithoutGit(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, nil)
	if _, err := r.Files(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "git ls-files") {
		t.Errorf("error %v, want one that names git ls-files", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Files(ended, ""); err == nil {
		t.Error("a context that has ended: no error")
	}
}
