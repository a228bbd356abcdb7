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
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/internal/rules"
	"github.com/operkit/operkit/tools/check/repository"
)

func ExampleNamed() {
	fmt.Println(rules.Named("TestRun/dag_14,_15:_stops_early"))
	// Output: [dag 14 dag 15]
}

func ExampleParse() {
	places, problems := rules.Parse("dag/RULES.md", "# Rules of dag\n\n- **dag 14**: A run stops early\n  when its context ends.\n- **dag 15**:\n")
	fmt.Println(places[0].Rule, places[0].Line, places[0].Sentence)
	fmt.Println(problems)
	// Output:
	// dag 14 3 A run stops early when its context ends.
	// [dag/RULES.md:5: dag 15: no sentence follows the number: write what we do]
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want, problem string }{
		{"empty", "", "[]", ""},
		{"no list", "# Rules\n\nA module keeps them.\n\n## dag\n", "[]", ""},
		{"as they stand", "## dag\n\n- **dag 2**: Two.\n- **dag 1**: One.\n\n## status\n\n- **status 25c**: A letter.", "[dag 2 dag 1 status 25c]", ""},
		{"on two lines", "- **dag 1**:\n  One.\n", "[dag 1]", ""},
		{"no sentence", "- **dag 1**:\n\nOne.\n", "[dag 1]", "f:1: dag 1: no sentence"},
		{"the same sentence", "- **dag 1**: One.\n- **dag 2**: One.\n", "[dag 1 dag 2]", "f:2: dag 2: line 1 has the same sentence"},
		{"the same number", "- **dag 1**: One.\n\n- **dag 1**: Two.\n", "[dag 1 dag 1]", "f:3: dag 1: line 1 has this number too"},
		{"an item that is no rule", "- **dag 1**: One.\n- dag 2: Two.\n", "[dag 1]", "f:2: the item is no rule"},
		{"a range", "- **dag 1-2**: Both.\n", "[]", "f:1: the item is no rule"},
		{"zero", "- **dag 0**: None.\n", "[]", "f:1: the item is no rule"},
		{"a slip of the pen", "- **dag 100000**: Too much.\n", "[]", "f:1: the item is no rule"},
		{"another mark", "* **dag 1**: One.\n", "[]", "f:1: the item is no rule"},
	} {
		places, problems := rules.Parse("f", row.text)
		found := []rules.Rule{}
		for _, place := range places {
			found = append(found, place.Rule)
		}
		if fmt.Sprint(found) != row.want {
			t.Errorf("%s: %v; want %s", row.reason, found, row.want)
		}
		if row.problem == "" && len(problems) == 0 || row.problem != "" && len(problems) == 1 && strings.HasPrefix(problems[0], row.problem) {
			continue
		}
		t.Errorf("%s: problems %q, want one that starts with %q", row.reason, problems, row.problem)
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
		{"no rule has this number", "TestRun/ends_with_exit_status_0", "[]"},
		{"a letter behind the number", "TestRun/status_25c,_26:_both", "[status 25c status 26]"},
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

func TestCheck(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for n := range 7 {
		fmt.Fprintf(&list, "- **dag %d**: Rule %[1]d.\n", n+1)
	}
	r := repotest.New(t, []string{"dag", "status", "tools/integration"}, repotest.Files{
		"dag/RULES.md":     list.String(),
		"status/RULES.md":  "- **status 1**: One.\n- **dag 1**: As in dag.\n",
		"dag/dag.go":       "package dag\n",
		"status/status.go": "package status\n",
	})
	repotest.Git(t, r.Root)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(r.Root, "dag", "dag.go"), old, old); err != nil {
		t.Fatal(err)
	}
	stream(t, r, "dag",
		"pass TestGraph/dag_1:_empty", "pass TestGraph/dag_2,_3:_names", "skip TestGraph/dag_4:_edges",
		"run TestGraph/dag_5:_cycles", "pass TestGraph/dag_6:_again", "fail TestRunner/dag_6:_again")
	stream(t, r, "tools/integration", "pass TestBoth/status_1:_in_a_cluster", "pass TestBoth/dag_8a", "pass TestAgain/dag_8a", "pass TestBoth/after_3_tries")
	report, err := rules.Check(t.Context(), r, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Summary != "4 of 8 rules are proven" {
		t.Errorf("summary %q; want 4 of 8", report.Summary)
	}
	want := []string{
		"dag 8a: TestBoth/dag_8a in p/tools/integration has this number in its name, but no RULES.md has such a rule: add the rule or rename the test",
		"dag/RULES.md:4: dag 4: TestGraph/dag_4:_edges in p/dag did not pass",
		"dag/RULES.md:5: dag 5: TestGraph/dag_5:_cycles in p/dag did not pass",
		"dag/RULES.md:6: dag 6: TestRunner/dag_6:_again in p/dag did not pass",
		"dag/RULES.md:7: dag 7: no passed test has this rule in its name: begin the name of a test that proves the rule with 'dag 7: '",
	}
	if !slices.Equal(report.Problems, want) {
		t.Errorf("problems %q, want %q", report.Problems, want)
	}
	if want := []string{"the tests of these modules have not run yet: status"}; !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
}

func TestCheckTellsOfOldRuns(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/dag.go": "package dag\n", "dag/RULES.md": "- **dag 1**: One.\n"})
	repotest.Git(t, r.Root)
	stream(t, r, "dag", "pass TestGraph/dag_1")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(r.Root, "dag", "dag.go"), later, later); err != nil {
		t.Fatal(err)
	}
	report, err := rules.Check(t.Context(), r, repository.Options{})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("problems %q, %v", report.Problems, err)
	}
	if want := []string{"these modules have changed since their tests ran: dag"}; !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
}

func TestNoRules(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag"}, repotest.Files{"dag/RULES.md": "# Rules of dag\n\nLater.\n"})
	repotest.Git(t, r.Root)
	report, err := rules.Check(t.Context(), r, repository.Options{})
	if err != nil || len(report.Problems)+len(report.Notes) > 0 {
		t.Errorf("report %+v, %v; want an empty one", report, err)
	}
}

func TestCitations(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "smp"}, repotest.Files{
		"dag/rules.txt": "dag 1-3, 5\n", "dag/dag.go": "package dag\n\n// One (spec: dag 1).\n", "dag/dag_test.go": "package dag // spec: dag 2\n",
		"smp/smp.go": "package smp\n\nconst text, more = `spec: {}`, `spec: a field`\n",
	})
	repotest.Git(t, r.Root)
	report, err := rules.Check(t.Context(), r, repository.Options{})
	want := []string{
		`dag/dag.go:3: "spec: dag 1" cites a document that isn't in the repository: remove the citation, or move it into the name of a test`,
		"dag/rules.txt: no program reads this file: write its rules into RULES.md beside it",
	}
	if err != nil || !slices.Equal(report.Problems, want) {
		t.Errorf("problems %q, %v; want %q", report.Problems, err, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("- **dag 1**: One.\n  More.\n")
	f.Add("- **dag 25c**:\n\n- dag\n")
	f.Fuzz(func(t *testing.T, text string) {
		places, problems := rules.Parse("f", text)
		if again, wrong := rules.Parse("f", text); !slices.Equal(again, places) || !slices.Equal(wrong, problems) {
			t.Errorf("%q: %v, read again %v", text, places, again)
		}
		for _, place := range places {
			if named := rules.Named(place.String()); len(named) != 1 || named[0] != place.Rule {
				t.Errorf("%q: rule %v, which a test of its name has as %v", text, place.Rule, named)
			}
		}
	})
}

func FuzzNamed(f *testing.F) {
	f.Add("TestRun/dag_14,_15:_both")
	f.Fuzz(func(t *testing.T, name string) {
		for _, rule := range rules.Named(name) {
			if !strings.Contains(name, rule.Topic) || rule.Number < 0 {
				t.Errorf("%q names %v", name, rule)
			}
		}
	})
}
