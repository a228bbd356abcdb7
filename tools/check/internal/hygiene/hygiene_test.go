package hygiene_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/hygiene"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

// found is what a check has found.
func found(report repository.Report, err error) ([]string, error) { return report.Problems, err }

// want checks that there is one problem for each list of parts, and that it holds them.
func want(t *testing.T, problems []string, err error, parts ...[]string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != len(parts) {
		t.Fatalf("%d problems, want %d:\n%s", len(problems), len(parts), strings.Join(problems, "\n---\n"))
	}
	for i, problem := range problems {
		for _, part := range parts[i] {
			if !strings.Contains(problem, part) {
				t.Errorf("problem\n%s\nwithout %q", problem, part)
			}
		}
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	program := strings.Repeat("x", 1<<20+1)
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/added": program, "dag/data.txt": program[1:], "dag/ignored": program, "dag/new": program, ".gitignore": "ignored\n",
	})
	repotest.Git(t, r.Root)
	if out, err := exec.Command("git", "-C", r.Root, "add", "dag/added").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	problems, err := found(hygiene.Large(t.Context(), r, repository.Options{}))
	slices.Sort(problems)
	want(t, problems, err, []string{"dag/added: 1.0 MB, a file may have 1 MB at most"}, []string{"dag/new: 1.0 MB"})
}

func TestFormat(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/good.go":     "package dag\n",
		"dag/bad.go":      "package dag\nfunc  f(){}\n",
		"dag/broken.go":   "package dag\nfunc {\n",
		"dag/ignored.go":  "package   dag",
		"dag/part.go":     "x := 1\n",
		"dag/no.txt":      "package   dag",
		"scripts/tool.go": "package   tool\n",
		".gitignore":      "ignored.go\n",
	})
	repotest.Git(t, r.Root)
	problems, err := found(hygiene.Format(t.Context(), r, repository.Options{}))
	slices.Sort(problems)
	want(t, problems, err,
		[]string{"dag/bad.go: not formatted: run make fmt"},
		[]string{"dag/broken.go:2:6: "},
		[]string{"dag/part.go:1:1: expected 'package'"},
		[]string{"scripts/tool.go: not formatted"})
	problems, err = found(hygiene.Format(t.Context(), r, repository.Options{Write: true}))
	want(t, problems, err, []string{"dag/broken.go"}, []string{"dag/part.go"})
	text, err := os.ReadFile(filepath.Join(r.Root, "dag", "bad.go"))
	if err != nil || string(text) != "package dag\n\nfunc f() {}\n" {
		t.Errorf("formatted to %q, %v", text, err)
	}
}

func TestTidy(t *testing.T) {
	t.Parallel()
	const dag, status = repository.Prefix + "/dag", repository.Prefix + "/status"
	r := repotest.New(t, []string{"dag", "status", "tools/peers/dag"}, repotest.Files{
		"dag/dag.go":              "package dag\n",
		"status/go.mod":           "module " + status + "\n\ngo 1.26.0\n\nrequire " + dag + " v0.0.0\n\nreplace " + dag + " => ../dag\n",
		"status/status.go":        "package status\n",
		"tools/peers/dag/peer.go": repotest.Package("peer", dag),
		"tools/peers/dag/go.mod":  "module " + repository.Prefix + "/tools/peers/dag\n\ngo 1.26.0\n\nreplace " + dag + " => ../../../dag\n",
	})
	problems, err := found(hygiene.Tidy(t.Context(), r, repository.Options{}))
	want(t, problems, err,
		[]string{"status: go mod tidy -diff", "-require " + dag},
		[]string{"tools/peers/dag: go mod tidy -diff", "+require " + dag})
}

func TestTidyInOrder(t *testing.T) {
	t.Parallel()
	const dag = repository.Prefix + "/dag"
	r := repotest.New(t, []string{"dag", "tools/check"}, repotest.Files{
		"dag/dag.go":           "package dag\n",
		"tools/check/main.go":  repotest.Package("main", dag),
		"tools/check/go.mod":   "module " + repository.Prefix + "/tools/check\n\ngo 1.26.0\n\nrequire " + dag + " v0.0.0\n\nreplace " + dag + " => ../../dag\n",
		"tools/check/main2.go": "package main\n\nfunc main() {}\n",
	})
	problems, err := found(hygiene.Tidy(t.Context(), r, repository.Options{}))
	want(t, problems, err)
}

// TestTidyDrift has two modules that require different versions of a third, which lies in folders.
func TestTidyDrift(t *testing.T) {
	t.Parallel()
	libraries := t.TempDir()
	repotest.Write(t, libraries, repotest.Files{
		"lib/go.mod": "module lib.test/lib\n\ngo 1.26.0\n",
		"lib/lib.go": "package lib\n",
	})
	module := func(name, version string) string {
		return "module " + repository.Prefix + "/" + name + "\n\ngo 1.26.0\n\nrequire lib.test/lib " + version +
			"\n\nreplace lib.test/lib => " + libraries + "/lib\n"
	}
	r := repotest.New(t, []string{"dag", "status"}, repotest.Files{
		"dag/go.mod":       module("dag", "v1.1.0"),
		"dag/dag.go":       repotest.Package("dag", "lib.test/lib"),
		"status/go.mod":    module("status", "v1.2.0"),
		"status/status.go": repotest.Package("status", "lib.test/lib"),
	})
	problems, err := found(hygiene.Tidy(t.Context(), r, repository.Options{}))
	want(t, problems, err,
		[]string{"dag/go.mod: requires lib.test/lib v1.1.0, the workspace builds with v1.2.0: run go work sync"})
}

func TestTidyOfBrokenModules(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/go.mod": "module github.com/operkit/operkit/dag\n\nrequires x\n"})
	problems, err := found(hygiene.Tidy(t.Context(), r, repository.Options{}))
	want(t, problems, err, []string{"dag: ", "unknown directive: requires"}, []string{"go.work: ", "unknown directive: requires"})
}

func TestGeneratorsAreCompiledAsProgramsOfImages(t *testing.T) {
	t.Setenv("GOFLAGS", "-buildvcs=false")
	r := generator(t, `sh -c "echo $GOFLAGS, $CGO_ENABLED >made.txt"`, nil)
	if err := hygiene.Generate(t.Context(), r, new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Root, "tools/peers/dag/made.txt"))
	if err != nil || string(text) != "-buildvcs=false -trimpath, 0\n" {
		t.Errorf("generators run with %q, %v", text, err)
	}
}

// generator is a repository with a generator that writes text to the files named.
func generator(t *testing.T, directive string, files repotest.Files) *repository.Repository {
	t.Helper()
	all := repotest.Files{
		"dag/dag.go":                    "package dag\n\n// A text that only mentions a //go:generate line.\n",
		"dag/fresh.txt":                 "fresh\n",
		"tools/peers/dag/generate.go":   "package peer\n\n//go:generate " + directive + "\n",
		"tools/peers/dag/testdata/x.go": "package x\n\n//go:generate false\n",
	}
	for name, text := range files {
		all[name] = text
	}
	r := repotest.New(t, []string{"dag", "tools/peers/dag"}, all)
	repotest.Git(t, r.Root)
	return r
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	const script = `sh -c "echo fresh >../../../dag/fresh.txt; echo new >../../../dag/new.txt; echo two >../../../dag/stale.txt; rm -f ../../../dag/gone.txt"`
	r := generator(t, script, repotest.Files{
		"dag/stale.txt": "one\n", "dag/gone.txt": "gone\n", "dag/other.txt": "not committed, and no matter\n",
	})
	problems, err := found(hygiene.Generated(t.Context(), r, repository.Options{}))
	want(t, problems, err,
		[]string{"dag/gone.txt: a generator changes it", "-gone"},
		[]string{"dag/new.txt: a generator changes it", "+new"},
		[]string{"dag/stale.txt: a generator changes it", "@@ -1 +1 @@\n-one\n+two"})
	text, err := os.ReadFile(filepath.Join(r.Root, "dag", "stale.txt"))
	if err != nil || string(text) != "two\n" {
		t.Errorf("the new contents are not in place: %q, %v", text, err)
	}
	earlier := time.Now().Add(-time.Hour).Truncate(time.Second)
	fresh := filepath.Join(r.Root, "dag", "fresh.txt")
	if err := os.Chtimes(fresh, earlier, earlier); err != nil {
		t.Fatal(err)
	}
	problems, err = found(hygiene.Generated(t.Context(), r, repository.Options{}))
	want(t, problems, err)
	info, err := os.Stat(fresh)
	if err != nil || !info.ModTime().Equal(earlier) {
		t.Errorf("a file that is as it was counts as new, so that tests which read it run again: %v, %v", info, err)
	}
}

func TestGenerateFails(t *testing.T) {
	t.Parallel()
	r := generator(t, `sh -c "echo reason >&2; exit 1"`, nil)
	problems, err := found(hygiene.Generated(t.Context(), r, repository.Options{}))
	want(t, problems, err, []string{"tools/peers/dag: go generate ./...", "reason"})
	var out bytes.Buffer
	if err := hygiene.Generate(t.Context(), r, &out); err == nil || !strings.HasPrefix(out.String(), "generate tools/peers/dag\nreason\n") {
		t.Errorf("error %v, printed %q", err, &out)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hygiene.Generated(ended, r, repository.Options{}); err == nil {
		t.Error("a context that has ended: no error")
	}
}

func TestNoGenerators(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": "package dag\n"})
	problems, err := found(hygiene.Generated(t.Context(), r, repository.Options{})) // needs no git either
	want(t, problems, err)
}
