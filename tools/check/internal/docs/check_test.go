package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/docs"
	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/repository"
)

// inOrder is a repository with a module dag whose package lacks nothing.
func inOrder(more repotest.Files) repotest.Files {
	files := repotest.Files{
		"README.md":        "| module | why |\n|---|---|\n| [dag](dag) | graphs |\n",
		"dag/README.md":    "# dag\n",
		"dag/CHANGELOG.md": "# Changes\n",
		"dag/doc.go":       "// Package dag holds graphs.\npackage dag\n",
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

// check returns the problems of the repository, which has the given modules.
func check(t *testing.T, modules []string, files repotest.Files) []string {
	t.Helper()
	found, err := docs.Check(t.Context(), repotest.New(t, modules, files), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Problems
}

func want(t *testing.T, reason string, problems []string, prefixes ...string) {
	t.Helper()
	if !slices.EqualFunc(problems, prefixes, strings.HasPrefix) {
		t.Errorf("%s: problems\n%s\nwant\n%s", reason, strings.Join(problems, "\n"), strings.Join(prefixes, "\n"))
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	want(t, "in order", check(t, []string{"dag"}, inOrder(nil)))
	want(t, "a file of each kind is missing", check(t, []string{"dag", "status"}, repotest.Files{
		"README.md":                "| [dag](dag) | graphs |\n| [status](status/) | conditions |\n| [docs](https://x.test) | other |\n",
		"dag/dag.go":               "// Package dag has its comment elsewhere.\npackage dag\n",
		"dag/internal/walk/doc.go": "package walk\n",
		"dag/cmd/main.go":          "// Command cmd has it where a program may have it.\npackage main\n",
		"dag/cmd/other/main.go":    "package main\n",
		"dag/tests/a_test.go":      "package tests\n",
		"status/README.md":         "# status\n", "status/CHANGELOG.md": "# Changes\n",
	}),
		"dag/CHANGELOG.md: it is missing, though the top README offers the module",
		"dag/README.md: it is missing",
		"dag/doc.go: it has no package comment, or is missing",
		"dag/cmd/other/doc.go: ", "dag/internal/walk/doc.go: ")
	want(t, "no page at the top", check(t, nil, nil), "README.md: it is missing")
}

func TestCommentsOfMembers(t *testing.T) {
	t.Parallel()
	const body = `package dag

// Graph has some of all.
type Graph struct {
	// Nodes are its nodes.
	Nodes int
	Edges int // are its edges
	Bare  int
	inner int
	Inside struct {
		Bare int
	}
	Embedded

	// Width and Height are a
	// group.
	Width  int
	Height int
	Depth  int

	// +optional
	Marked int
}

// Pair has a Left and a right.
type Pair struct{ Left, Right int }

// Doer does.
type Doer interface{ Do() }

type Embedded struct{}

// Walker walks.
type Walker interface {
	// Walk walks.
	Walk()
	Stop()
	hidden()
}

// A group's comment counts for all.
const (
	One = 1
	Two = 2
)

const (
	Three = 3 // three
	Four  = 4
)

func (g *Graph) Len() int { return 0 }

// Cap is documented.
func (g Graph) Cap() int { return 0 }

func New() {}

func (h hidden) Shown() {}

type hidden struct{}
`
	var got []string
	for _, problem := range check(t, []string{"dag", "examples", "tools/peers/dag"}, inOrder(repotest.Files{
		"dag/dag.go":               body,
		"dag/internal/walk/doc.go": "// Package walk is nobody's business.\npackage walk\n\nfunc Walk() {}\n",
		"dag/zz_test.go":           "package dag\n\nfunc Helper() {}\n",
		"dag/cmd/main.go":          "// Command cmd is one.\npackage main\n\nfunc Do() {}\n\nfunc main() {}\n",
		"examples/README.md":       "# examples\n", "examples/main.go": "package main\n\n// Fine.\nfunc main() {}\n\nfunc Do() {}\n",
		"examples/doc.go":           "// Command examples is for reading.\npackage main\n",
		"tools/peers/dag/README.md": "# peers\n", "tools/peers/dag/doc.go": "// Package peer measures.\npackage peer\n\nfunc Do() {}\n",
	})) {
		if name, is := strings.CutSuffix(problem, ": no doc comment"); is {
			got = append(got, name)
		}
	}
	if want := []string{
		"dag/dag.go:8: Graph.Bare", "dag/dag.go:10: Graph.Inside", "dag/dag.go:11: Graph.Inside.Bare", "dag/dag.go:19: Graph.Depth",
		"dag/dag.go:22: Graph.Marked", "dag/dag.go:26: Pair.Right", "dag/dag.go:37: Walker.Stop", "dag/dag.go:52: Graph.Len", "dag/dag.go:57: New",
	}; !slices.Equal(got, want) {
		t.Errorf("without comments are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// library has a bit of everything that examples show.
const library = `package dag

import "io"

// Graph is one.
type Graph[T any] struct{ Base }

// Base is in every graph.
type Base struct{}

// Touch is promoted.
func (Base) Touch() {}

// New makes one.
func New[T any](options ...Option) (*Graph[T], *Problem) { return &Graph[T]{}, nil }

// Add adds.
func (g *Graph[T]) Add(node T) Edge { return Edge{} }

// String is called by fmt.
func (g *Graph[T]) String() string { return "graph" }

// Edge comes out of Add.
type Edge struct{}

// Problem comes out of New.
type Problem struct{}

// Option is one.
type Option func()

// Fast is an option.
func Fast() Option { return nil }

// Walker is what Walk takes.
type Walker interface {
	// Step is its method.
	Step()
}

// Walk walks.
func Walk(w Walker) { w.Step() }

// Foot is a Walker.
type Foot struct{}

// Step is called by Walk.
func (Foot) Step() {}

// Write makes it an io.Writer.
func (*Foot) Write(text []byte) (int, error) { return len(text), nil }

// Copy takes a writer.
func Copy(w io.Writer) {}

// Alias is another name.
type Alias = Foot

// Value is no entry point.
var Value = 1
`

func TestExamples(t *testing.T) {
	t.Parallel()
	const head = "package dag_test\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/operkit/operkit/dag\"\n)\n\nvar _, _ = fmt.Println, dag.Value\n\n"
	all := []string{
		"Graph", "Base", "Base.Touch", "New", "Graph.Add", "Edge", "Problem", "Option", "Fast", "Walker", "Walk", "Foot", "Foot.Step", "Foot.Write", "Copy", "Alias",
	}
	for _, row := range []struct {
		reason, tests string
		shown         []string // what is not missing
		problems      []string
	}{
		{"nothing", "", nil, nil},
		{"by the names of examples", "func ExampleNew() {\n\t// Output:\n}\n\nfunc ExampleGraph_Add_twice() {\n\t// Output:\n}\n\nfunc ExampleAlias_again() {\n\t// Output:\n}\n", []string{"New", "Graph.Add", "Alias"}, nil},
		{
			"by use; results and arguments are uses of their types, and what is never given is not", "func Example() {\n\tg, _ := dag.New[int]()\n\tg.Add(1)\n\t// Output:\n}\n",
			[]string{"Graph", "New", "Graph.Add", "Edge", "Problem"}, nil,
		},
		{"an option that is given", "func Example() {\n\tdag.New[int](dag.Fast())\n\t// Output:\n}\n", []string{"Graph", "New", "Problem", "Option", "Fast"}, nil},
		{"a promoted method", "func Example() {\n\tdag.Graph[int]{}.Touch()\n\t// Output:\n}\n", []string{"Graph", "Base", "Base.Touch"}, nil},
		{"given as an interface", "func Example() {\n\tdag.Walk(dag.Foot{})\n\tdag.Copy(&dag.Foot{})\n\t// Output:\n}\n", []string{"Walk", "Walker", "Foot", "Foot.Step", "Foot.Write", "Copy"}, nil},
		{"a variable of an interface", "func Example() {\n\tvar w dag.Walker = dag.Foot{}\n\t_ = w\n\t// Output:\n}\n", []string{"Walker", "Foot", "Foot.Step"}, nil},
		{"an interface that a type of the tests implements", "type mine struct{}\n\nfunc (*mine) Step() {}\n\nfunc Example() {\n\t_ = dag.Value\n\t_ = mine{}\n\t// Output:\n}\n", []string{"Walker"}, nil},
		{"by another name", "func Example() {\n\t_ = dag.Alias{}\n\t// Output:\n}\n", []string{"Foot", "Alias"}, nil},
		{
			"through what the tests declare", "type mine struct{}\n\nfunc (mine) Step() { dag.Copy(nil) }\n\nfunc help() { dag.Walk(mine{}) }\n\nfunc unused() { dag.New[int]() }\n\nfunc Example() {\n\thelp()\n\t// Output:\n}\n",
			[]string{"Walker", "Walk", "Copy"}, nil,
		},
		{
			"an example without output shows nothing", "func ExampleNew() {\n\tdag.New[int]()\n}\n\nfunc ExampleWalk() {\n\t// Output:\n}\n",
			[]string{"Walk"}, []string{"dag: ExampleNew: it has no line 'Output:'"},
		},
		{"unordered output is one", "func ExampleNew() {\n\t// Unordered output:\n\t// a\n}\n", []string{"New"}, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			problems := check(t, []string{"dag"}, inOrder(repotest.Files{"dag/dag.go": library, "dag/example_test.go": head + row.tests}))
			var missing, others, expected []string
			for _, problem := range problems {
				if name, is := strings.CutSuffix(problem, ": no Example with output is named for it or uses it"); is {
					missing = append(missing, name[strings.LastIndex(name, " ")+1:])
				} else {
					others = append(others, problem)
				}
			}
			for _, name := range all {
				if !slices.Contains(row.shown, name) {
					expected = append(expected, name)
				}
			}
			slices.Sort(missing)
			slices.Sort(expected)
			if !slices.Equal(missing, expected) {
				t.Errorf("without examples are\n%q, want\n%q", missing, expected)
			}
			want(t, row.reason, others, row.problems...)
		})
	}
}

func TestExamplesElsewhere(t *testing.T) {
	t.Parallel()
	want(t, "without any test", check(t, []string{"dag"}, inOrder(repotest.Files{"dag/dag.go": "package dag\n\n// Do does.\nfunc Do() {}\n"})),
		"dag/dag.go:4: Do: no Example")
	want(t, "an example in the package itself", check(t, []string{"dag"}, inOrder(repotest.Files{
		"dag/dag.go":      "package dag\n\n// Do does.\nfunc Do() {}\n",
		"dag/dag_test.go": "package dag\n\nfunc ExampleDo() {\n\tDo()\n\t// Output:\n}\n",
	})), "dag/dag_test.go: ExampleDo belongs in package dag_test", "dag/dag.go:4: Do: no Example")
	want(t, "tests of both kinds", check(t, []string{"dag"}, inOrder(repotest.Files{
		"dag/dag.go":         "package dag\n\n// Do does.\nfunc Do() {}\n",
		"dag/export_test.go": "package dag\n\nvar Inner = 1\n",
		"dag/dag_test.go":    "package dag_test\n\nimport \"github.com/operkit/operkit/dag\"\n\nfunc ExampleDo() {\n\t_ = dag.Inner\n\t// Output:\n}\n",
	})))
	want(t, "tests that do not compile", check(t, []string{"dag"}, inOrder(repotest.Files{
		"dag/dag.go":      "package dag\n",
		"dag/dag_test.go": "package dag_test\n\nvar x int = \"text\"\n",
	})), "dag: its tests do not compile: ")
	want(t, "outside of the workspace", check(t, []string{"tools/devcluster"}, repotest.Files{
		"README.md": "", "tools/devcluster/README.md": "# devcluster\n",
		"tools/devcluster/api/doc.go": "// Package api is one.\npackage api\n\n// Do does.\nfunc Do() {}\n",
	}), "tools/devcluster/api/doc.go:5: Do: no Example")
	want(t, "what a generator wrote", check(t, []string{"dag"}, inOrder(repotest.Files{
		"dag/zz.go": "// Code generated by x. DO NOT EDIT.\n\npackage dag\n\n// Do does.\nfunc Do() {}\n",
	})))
}

func TestBrokenFile(t *testing.T) {
	t.Parallel()
	if _, err := docs.Check(t.Context(), repotest.New(t, []string{"dag"}, inOrder(repotest.Files{"dag/dag.go": "package dag\n\nfunc {\n"})), repository.Options{}); err == nil || !strings.Contains(err.Error(), "dag.go:3:6") {
		t.Errorf("error %v, want the place", err)
	}
}
