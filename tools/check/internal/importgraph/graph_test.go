package importgraph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/importgraph"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

var diamond = importgraph.Graph{
	"a": {Imports: []string{"b", "c"}},
	"b": {Imports: []string{"d", "a"}},
	"c": {Imports: []string{"x"}},
	"d": {Imports: []string{"x"}},
}

func is(want string) func(string) bool { return func(path string) bool { return path == want } }

func ExampleGraph_Chain() {
	fmt.Println(diamond.Chain([]string{"a"}, is("x")))
	// Output: [a c x]
}

func TestChainIsTheShortest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		from   []string
		to     string
		want   []string
	}{
		{"the shorter of two", []string{"a"}, "x", []string{"a", "c", "x"}},
		{"from the nearest of several", []string{"a", "d"}, "x", []string{"d", "x"}},
		{"it is there already", []string{"a"}, "a", []string{"a"}},
		{"there is none", []string{"c"}, "b", nil},
		{"from nowhere", nil, "b", nil},
	} {
		if got := diamond.Chain(row.from, is(row.to)); !slices.Equal(got, row.want) {
			t.Errorf("%s: chain %q, want %q", row.reason, got, row.want)
		}
	}
}

func TestReached(t *testing.T) {
	t.Parallel()
	if got := diamond.Reached([]string{"d", "b"}); !slices.Equal(got, []string{"a", "b", "c", "d", "x"}) {
		t.Errorf("reached %q", got)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	const dag = repository.Prefix + "/dag"
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"dag/dag.go":                repotest.Package("dag", "errors", dag+"/internal/walk"),
		"dag/dag_test.go":           repotest.Package("dag", "testing"),
		"dag/x_test.go":             repotest.Package("dag_test", "testing", "embed"),
		"dag/internal/walk.go":      "package internal\n",
		"dag/internal/walk/walk.go": "package walk\n",
		"dag/broken/broken.go":      repotest.Package("broken", "nowhere.test/x"),
	})
	g, problems, err := importgraph.Load(t.Context(), r.Folder(r.Modules[0]), r.Environ(r.Modules[0]), "./...")
	if err != nil {
		t.Fatal(err)
	}
	p := g[dag]
	if p.Name != "dag" || p.DepOnly || p.Standard || p.Module == nil || p.Module.Path != dag || !slices.Equal(p.Tests(), []string{"embed", "testing"}) {
		t.Errorf("package %+v", p)
	}
	if !g["errors"].Standard || !g["errors"].DepOnly {
		t.Errorf("errors: %+v", g["errors"])
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "nowhere.test/x: ") {
		t.Errorf("problems %q", problems)
	}
}
