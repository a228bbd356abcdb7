package gotest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/repository"
)

func TestReadResults(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		file, reason string
		want         []Result
	}{
		{"fail.jsonl", "tests and subtests, each with its outcome", []Result{
			{"example.test/fx/fail", "TestGood", true},
			{"example.test/fx/fail", "TestTable", false},
			{"example.test/fx/fail", "TestTable/good", true},
			{"example.test/fx/fail", "TestTable/bad", false},
		}},
		{"skip.jsonl", "a skipped test has not passed", []Result{
			{"example.test/fx/skip", "TestSkipped", false},
			{"example.test/fx/skip", "TestGood", true},
		}},
		{"unfinished.jsonl", "a test that did not end has not passed", []Result{
			{"example.test/fx/unfinished", "TestExits", false},
		}},
		{"flaky.jsonl", "every run of a test is a result of its own", []Result{
			{"example.test/fx/flaky", "TestFlaky", true},
			{"example.test/fx/flaky", "TestFlaky", false},
			{"example.test/fx/flaky", "TestFlaky", true},
		}},
		{"buildfail.jsonl", "nothing ran in a package that does not build", nil},
		{"nowhere.jsonl", "a module that was never run", nil},
	} {
		got, err := ReadResults(filepath.Join("testdata", row.file))
		if err != nil {
			t.Errorf("%s: %v", row.reason, err)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.reason, got, row.want)
		}
	}
	if _, err := ReadResults("testdata"); err == nil || !strings.Contains(err.Error(), "testdata") {
		t.Errorf("a folder: %v, want an error that names it", err)
	}
}

func TestStreamKeepsTheLastCompleteRun(t *testing.T) {
	t.Parallel()
	r := &repository.Repository{Root: t.TempDir()}
	path := StreamFile(r, repository.Module{Dir: "tools/check"})
	if want := filepath.Join(r.Root, ".cache", "test", "tools", "check.jsonl"); path != want {
		t.Fatalf("file %s, want %s", path, want)
	}
	for _, row := range []struct {
		text     string
		complete bool
		want     string
	}{
		{"first", true, "first"},
		{"interrupted", false, "first"},
		{"second", true, "second"},
	} {
		s, err := createStream(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.file.WriteString(row.text); err != nil {
			t.Fatal(err)
		}
		if err := s.close(row.complete); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != row.want {
			t.Errorf("after %q: %q, %v; want %q", row.text, got, err, row.want)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v; want the one", left, err)
	}
}
