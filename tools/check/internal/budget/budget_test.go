package budget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/budget"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

func ExampleParse() {
	promised, err := budget.Parse("dag/budget.txt", "modules 2\nnever k8s.io\n\ngolang.org/x/sync: errgroup # not more\n\ntests:\nexample.test/assert: assertions\n")
	fmt.Printf("%+v %v\n", promised, err)
	// Output:
	// {Modules:2 Never:[k8s.io] Requirements:[{Path:golang.org/x/sync Why:errgroup Tests:false} {Path:example.test/assert Why:assertions Tests:true}]} <nil>
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{"nothing is promised", "# later\n", "b.txt: no line 'modules N'"},
		{"no number", "modules few\n", `b.txt:1: modules "few"`},
		{"below zero", "modules -1\n", `b.txt:1: modules "-1"`},
		{"twice", "modules 1\nmodules 2\n", `b.txt:2: modules "2"`},
		{"never what", "modules 1\nnever\n", `b.txt:2: never ""`},
		{"never several at once", "never k8s.io sigs.k8s.io\n", "b.txt:1: never"},
		{"no reason", "modules 1\nx.test/y:\n", `b.txt:2: "x.test/y:"`},
		{"no colon", "x.test/y because\n", `b.txt:1: "x.test/y because"`},
		{"a requirement twice", "x.test/y: a\ntests:\nx.test/y: b\n", "b.txt:3: x.test/y: it has a line already"},
	} {
		if _, err := budget.Parse("b.txt", row.text); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: error %v, want %q", row.reason, err, row.want)
		}
	}
}

// shop is a repository with a module dag, whose budget is promised, that imports near, which imports far, and in a test
// assert.
func shop(t *testing.T, promised string, more repotest.Files) *repository.Repository {
	t.Helper()
	libraries := t.TempDir()
	repotest.Write(t, libraries, repotest.Files{
		"near/go.mod":   "module near.test\n\ngo 1.26.0\n\nrequire far.test v0.0.0\n",
		"near/near.go":  repotest.Package("near", "far.test/sub"),
		"far/go.mod":    "module far.test\n\ngo 1.26.0\n",
		"far/sub/s.go":  repotest.Package("sub", "errors"),
		"far/far.go":    "package far\n",
		"assert/go.mod": "module assert.test\n\ngo 1.26.0\n",
		"assert/a.go":   "package assert\n",
	})
	mod := "module " + repository.Prefix + "/dag\n\ngo 1.26.0\n\nrequire (\n\tassert.test v0.0.0\n\tfar.test v0.0.0 // indirect\n\tnear.test v0.0.0\n)\n"
	for _, name := range []string{"near", "far", "assert"} {
		mod += fmt.Sprintf("\nreplace %s.test => %q\n", name, libraries+"/"+name)
	}
	files := repotest.Files{
		"dag/go.mod":                mod,
		"dag/dag.go":                repotest.Package("dag", repository.Prefix+"/dag/internal/walk"),
		"dag/internal/walk/w.go":    repotest.Package("walk", "near.test"),
		"dag/dag_test.go":           repotest.Package("dag", "assert.test"),
		"dag/internal/only/only.go": repotest.Package("only", "far.test"),
		"dag/budget.txt":            promised,
	}
	for name, text := range more {
		files[name] = text
	}
	return repotest.New(t, []string{"dag"}, files)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const kept = "near.test: it is near\ntests:\nassert.test: assertions\n"
	for _, row := range []struct {
		reason, promised string
		more             repotest.Files
		want             []string
	}{
		{"all is kept", "modules 2\n" + kept, nil, nil},
		{"there is room", "modules 9\nnever k8s.io\nnever far.tes\n" + kept, nil, nil},
		{"too many", "modules 1\n" + kept, nil, []string{
			"dag: its importers compile 2 other modules, the budget is 1; the chains of imports to them are:\n" +
				"    far.test: " + repository.Prefix + "/dag -> " + repository.Prefix + "/dag/internal/walk -> near.test -> far.test/sub\n" +
				"    near.test: " + repository.Prefix + "/dag -> " + repository.Prefix + "/dag/internal/walk -> near.test",
		}},
		{"one that must not be there", "modules 2\nnever far.test\n" + kept, nil, []string{"dag: its importers compile far.test, but the budget has 'never far.test': "}},
		{"a requirement without a line", "modules 2\ntests:\nassert.test: assertions\n", nil, []string{"dag/budget.txt: go.mod requires near.test: add"}},
		{"a line without a requirement", "modules 2\nfar.test: it is far\n" + kept, nil, []string{"dag/budget.txt: far.test: go.mod does not require it"}},
		{"for tests only, it says", "modules 2\ntests:\nassert.test: assertions\nnear.test: it is near\n", nil, []string{"dag/budget.txt: near.test: also code outside of tests uses it"}},
		{"not only for tests, it says", "modules 2\nassert.test: assertions\nnear.test: it is near\n", nil, []string{"dag/budget.txt: assert.test: only tests use it"}},
		{"a budget that cannot be read", "modules\n", nil, []string{`dag/budget.txt:1: modules ""`}},
		{"a package that cannot be loaded", "modules 2\n" + kept, repotest.Files{"dag/dag.go": repotest.Package("dag", "gone.test")}, []string{"gone.test: "}},
		{"a program that nobody imports", "modules 2\n" + kept, repotest.Files{"dag/cmd/main.go": repotest.Package("main", "far.test")}, nil},
		{"a program with a library", "modules 1\n" + kept, repotest.Files{
			"dag/dag.go": repotest.Package("main", "near.test"), "dag/dag_test.go": repotest.Package("main", "assert.test"), "dag/api/api.go": "package api\n",
		}, []string{"dag: its importers compile 2 other modules"}},
		{"programs alone are what is promised", "modules 0\n" + kept, repotest.Files{
			"dag/dag.go": "package main\n\nfunc main() {}\n", "dag/dag_test.go": repotest.Package("main", "assert.test"),
		}, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			found, err := budget.Check(t.Context(), shop(t, row.promised, row.more), repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(found.Problems, row.want, strings.HasPrefix) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(found.Problems, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

func TestCheckLooksForBudgets(t *testing.T) {
	t.Parallel()
	r := repotest.New(t, []string{"dag", "status", "vcs"}, repotest.Files{
		"dag/CHANGELOG.md": "# Changes\n", "dag/dag.go": "package dag\n",
		"status/CHANGELOG.md": "# Changes\n", "status/budget.txt": "modules 3\n",
	})
	found, err := budget.Check(t.Context(), r, repository.Options{Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"dag/budget.txt: it is missing, though the module is released"}; !slices.EqualFunc(found.Problems, want, strings.HasPrefix) {
		t.Errorf("problems %q, want %q", found.Problems, want)
	}
	if want := []string{"status: 0 of 3 modules"}; !slices.Equal(found.Notes, want) {
		t.Errorf("figures %q, want %q", found.Notes, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("modules 2\nnever k8s.io\nx.test/y: why # not\ntests:\nz.test: z\n")
	f.Add("modules 1\nmodules 2")
	f.Fuzz(func(t *testing.T, text string) {
		promised, err := budget.Parse("f", text)
		if err != nil {
			return
		}
		if promised.Modules < 0 {
			t.Errorf("%q: %d modules", text, promised.Modules)
		}
		for _, line := range promised.Requirements {
			if line.Path == "" || line.Why == "" {
				t.Errorf("%q: requirement %+v", text, line)
			}
		}
	})
}
