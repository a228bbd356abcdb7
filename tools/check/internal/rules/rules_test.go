package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/repository"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/internal/rules"
)

func ExampleNamed() {
	fmt.Println(rules.Named("TestRun/dag_14,_15:_stops_early"))
	// Output: [dag 14 dag 15]
}

func ExampleParseClaims() {
	claimed, err := rules.ParseClaims("dag/rules.txt", "# the graph\ndag 1-3, 14\n")
	fmt.Println(claimed, err)
	// Output: [dag 1 dag 2 dag 3 dag 14] <nil>
}

func TestParseClaims(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want, err string }{
		{"empty", "", "[]", ""},
		{"only comments", "# nothing claimed yet\n\n  # here\n", "[]", ""},
		{"sorted, each once", "status 3\ndag 10, 2-3 # two pages\ndag 3\n", "[dag 2 dag 3 dag 10 status 3]", ""},
		{"no line break at the end", "dag 1", "[dag 1]", ""},
		{"no numbers", "dag\n", "", `rules.txt:1: subject "dag": no rule numbers`},
		{"a subject that is none", "\nDAG 1\n", "", `rules.txt:2: subject "DAG": want small letters`},
		{"numbers without a subject", "1-3\n", "", `subject "1-3"`},
		{"a range that runs backwards", "dag 3-1\n", "", `rules "3-1"`},
		{"no number", "dag one\n", "", `rules "one"`},
		{"an empty part", "dag 1,,2\n", "", `rules ""`},
		{"zero", "dag 0\n", "", `rules "0"`},
		{"a slip of the pen", "dag 1-1000000000\n", "", `rules "1-1000000000"`},
	} {
		got, err := rules.ParseClaims("rules.txt", row.text)
		if row.err != "" {
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("%s: error %v, want %q", row.reason, err, row.err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got) != row.want {
			t.Errorf("%s: %v, %v; want %s", row.reason, got, err, row.want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, name, want string }{
		{"as the go command writes a subtest", "TestRun/dag_14:_stops_early", "[dag 14]"},
		{"with a space", "dag 14: stops early", "[dag 14]"},
		{"in the name of a test", "TestRun_dag_14", "[dag 14]"},
		{"in the middle of a sentence", "TestRun/holds_dag_14_too", "[dag 14]"},
		{"a list before a colon", "TestRun/dag_14,_15,16:_both", "[dag 14 dag 15 dag 16]"},
		{"a list at the end", "TestRun/dag_14,15", "[dag 14 dag 15]"},
		{"a list before a subtest", "TestRun/dag_14,15/row", "[dag 14 dag 15]"},
		{"a comma that belongs to the sentence", "TestRun/dag_14,_2_nodes_run", "[dag 14]"},
		{"a list before another subject", "TestRun/dag_14,_24,_status_3,_5:_both", "[dag 14 dag 24 status 3 status 5]"},
		{"several subjects", "TestRun/dag_14:_and_status_3", "[dag 14 status 3]"},
		{"parent and child", "TestRun/dag_14/dag_15", "[dag 14 dag 15]"},
		{"the suffix of a name that comes twice", "TestRun/dag_14#01", "[dag 14]"},
		{"no range", "TestRun/dag_1-34:_all", "[dag 1]"},
		{"another word", "TestRun/endDag_14", "[]"},
		{"another number", "TestRun/dag_14th_of_May", "[]"},
		{"no number", "TestRun/dag", "[]"},
		{"a number too large for one", "TestRun/dag_99999999999999999999", "[]"},
	} {
		if got := fmt.Sprint(rules.Named(row.name)); got != row.want {
			t.Errorf("%s: %s names %s, want %s", row.reason, row.name, got, row.want)
		}
	}
}

// stream is the record of a test run: 'pass' and 'fail' with the name of a test, and 'run' for one that did not end.
func stream(t *testing.T, r *repository.Repository, dir string, events ...string) {
	t.Helper()
	var text strings.Builder
	for _, event := range events {
		action, name, _ := strings.Cut(event, " ")
		fmt.Fprintf(&text, "{\"Action\":\"run\",\"Package\":\"p/%s\",\"Test\":%q}\n", dir, name)
		if action != "run" {
			fmt.Fprintf(&text, "{\"Action\":%q,\"Package\":\"p/%s\",\"Test\":%q}\n", action, dir, name)
		}
	}
	file := gotest.StreamFile(r, repository.Module{Dir: dir})
	repotest.Write(t, filepath.Dir(file), repotest.Files{filepath.Base(file): text.String()})
}

func TestCover(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status", "tools/integration"}, repotest.Files{
		"dag/rules.txt":    "dag 1-7\n",
		"status/rules.txt": "status 1\n",
		"dag/dag.go":       "package dag\n",
		"status/status.go": "package status\n",
	})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(r.Root, "dag", "dag.go"), old, old); err != nil {
		t.Fatal(err)
	}
	stream(t, r, "dag",
		"pass TestGraph/dag_1:_empty", "pass TestGraph/dag_2,_3:_names", "skip TestGraph/dag_4:_edges",
		"run TestGraph/dag_5:_cycles", "pass TestGraph/dag_6:_again", "fail TestRunner/dag_6:_again")
	stream(t, r, "tools/integration", "pass TestBoth/status_1:_in_a_cluster")
	claimed, err := rules.Claims(r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := rules.Cover(t.Context(), r, claimed)
	if err != nil {
		t.Fatal(err)
	}
	if report.Claimed != 8 || report.Proven != 4 {
		t.Errorf("claimed %d, proven %d; want 8 and 4", report.Claimed, report.Proven)
	}
	want := []string{
		"dag 4: TestGraph/dag_4:_edges in p/dag did not pass",
		"dag 5: TestGraph/dag_5:_cycles in p/dag did not pass",
		"dag 6: TestRunner/dag_6:_again in p/dag did not pass",
		"dag 7: no test or subtest that ran and passed names it",
	}
	if !slices.Equal(report.Problems, want) {
		t.Errorf("problems %q, want %q", report.Problems, want)
	}
	if want := []string{"not run yet are the tests of status"}; !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
}

func TestCoverTellsOfOldRuns(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": "package dag\n"})
	stream(t, r, "dag", "pass TestGraph/dag_1")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(r.Root, "dag", "dag.go"), later, later); err != nil {
		t.Fatal(err)
	}
	report, err := rules.Cover(t.Context(), r, []rules.Rule{{Subject: "dag", Number: 1}})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("problems %q, %v", report.Problems, err)
	}
	if want := []string{"changed since its tests ran: dag"}; !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
}

func TestNothingClaimed(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/rules.txt": "# later\n"})
	claimed, err := rules.Claims(r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := rules.Cover(t.Context(), r, claimed)
	if err != nil || report.Claimed+len(report.Problems)+len(report.Notes) > 0 {
		t.Errorf("report %+v, %v; want an empty one", report, err)
	}
}

func TestClaimsNameTheirFile(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"tools/check"}, repotest.Files{"tools/check/rules.txt": "dag\n"})
	if _, err := rules.Claims(r); err == nil || !strings.HasPrefix(err.Error(), "tools/check/rules.txt:1: ") {
		t.Errorf("error %v, want one that starts with the file and line", err)
	}
}

func FuzzParseClaims(f *testing.F) {
	f.Add("dag 1-34, 36 # comment\n")
	f.Add("dag\n")
	f.Add("a 1-9999\nb 1-")
	f.Fuzz(func(t *testing.T, text string) {
		claimed, err := rules.ParseClaims("f", text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, rule := range claimed {
			fmt.Fprintln(&again, rule)
		}
		second, err := rules.ParseClaims("f", again.String())
		if err != nil || !slices.Equal(claimed, second) {
			t.Errorf("%q: %v, read again %v, %v", text, claimed, second, err)
		}
	})
}

func FuzzNamed(f *testing.F) {
	f.Add("TestRun/dag_14,_15:_both")
	f.Fuzz(func(t *testing.T, name string) {
		for _, rule := range rules.Named(name) {
			if !strings.Contains(name, rule.Subject) || rule.Number < 0 {
				t.Errorf("%q names %v", name, rule)
			}
		}
	})
}
