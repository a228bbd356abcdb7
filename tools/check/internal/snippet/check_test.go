package snippet_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/repotest"
	"github.com/operkit/operkit/tools/check/internal/snippet"
	"github.com/operkit/operkit/tools/check/repository"
)

const program = `package main

// Hello is
// greeted.
type Hello struct{}

// Setup sets up.
func (h *Hello[T]) Setup() {
	// region inner
	if true {
		print("tab")

		// region deeper
		print()
		// endregion deeper
	}
	// endregion inner
}

const (
	one = 1
	// two is more.
	two = 2
)

func main() {}
`

const config = "kind: Hello\nspec:\n  # region part\n  to: world\n  list:\n  - one\n  # endregion part\n"

// page is a repository with one page.
func page(t *testing.T, text string) *repository.Repository {
	t.Helper()
	r := repotest.New(t, []string{"dag"}, repotest.Files{
		"guide/page.md": text, "dag/main.go": program, "dag/config.yaml": config, "dag/twice.txt": "# region a\n# endregion a\n# region a\n# endregion a\n# region b\n",
		"dag/broken.go": "package\n", "dag/fence.txt": "a\n```\nb\n",
	})
	repotest.Git(t, r.Root)
	return r
}

func read(t *testing.T, r *repository.Repository) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Root, "guide", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestShown fills a block, and finds it right afterwards and wrong with a line more.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, source, want string }{
		{"a type with its comment", "dag/main.go#Hello", "// Hello is\n// greeted.\ntype Hello struct{}\n"},
		{"a method", "dag/main.go#Hello.Setup", "// Setup sets up.\nfunc (h *Hello[T]) Setup() {\n\t// region inner\n\tif true {\n\t\tprint(\"tab\")\n\n\t\t// region deeper\n\t\tprint()\n\t\t// endregion deeper\n\t}\n\t// endregion inner\n}\n"},
		{"a function without a comment", "dag/main.go#main", "func main() {}\n"},
		{"a constant brings its group", "dag/main.go#two", "const (\n\tone = 1\n\t// two is more.\n\ttwo = 2\n)\n"},
		{"a region, without its indent and the marks of regions inside", "dag/main.go#inner", "if true {\n\tprint(\"tab\")\n\n\tprint()\n}\n"},
		{"a region inside a region", "dag/main.go#deeper", "print()\n"},
		{"a region of a file that is not Go", "dag/config.yaml#part", "to: world\nlist:\n- one\n"},
		{"a whole file", "dag/config.yaml", config},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			before, after := "# Page\n\n<!-- file: "+row.source+" -->\n```go\n", "```\n\nThe end.\n"
			r := page(t, before+after)
			report, err := snippet.Check(t.Context(), r, repository.Options{})
			if err != nil || report.Summary != "1 snippets" || !slices.Equal(report.Problems, []string{"guide/page.md:3: the block differs from " + row.source + ": run check snippets -w"}) {
				t.Fatalf("an empty block: %+v, %v", report, err)
			}
			for range 2 { // the second time changes nothing
				if report, err = snippet.Check(t.Context(), r, repository.Options{Write: true}); err != nil || len(report.Problems) > 0 {
					t.Fatalf("filled: %q, %v", report.Problems, err)
				}
				if got := read(t, r); got != before+row.want+after {
					t.Fatalf("the page is\n%s", got)
				}
			}
			if report, err = snippet.Check(t.Context(), r, repository.Options{}); err != nil || len(report.Problems) > 0 {
				t.Errorf("a block in order: %q, %v", report.Problems, err)
			}
			repotest.Write(t, r.Root, repotest.Files{"guide/page.md": before + row.want + "more\n" + after})
			if report, err = snippet.Check(t.Context(), r, repository.Options{}); err != nil || len(report.Problems) != 1 {
				t.Errorf("a line too many: %q, %v", report.Problems, err)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, text, want string }{
		{"an empty line between", "<!-- file: dag/main.go#main -->\n\n```go\n```\n", "<!-- file: dag/main.go#main -->\n\n```go\nfunc main() {}\n```\n"},
		{"in a list", "1. x\n\n   <!-- file: dag/main.go#main -->\n   ```go\n   old\n   ```\n2. y\n", "1. x\n\n   <!-- file: dag/main.go#main -->\n   ```go\n   func main() {}\n   ```\n2. y\n"},
		{"two, with other blocks between", "<!-- file: dag/main.go#main -->\n~~~\n~~~\n```sh\n<!-- file: dag/no -->\n```\n<!-- file: dag/main.go#main -->\n````go\n````", "<!-- file: dag/main.go#main -->\n~~~\nfunc main() {}\n~~~\n```sh\n<!-- file: dag/no -->\n```\n<!-- file: dag/main.go#main -->\n````go\nfunc main() {}\n````"},
		{"a longer fence around one", "<!-- file: dag/fence.txt -->\n````\n````\n", "<!-- file: dag/fence.txt -->\n````\na\n```\nb\n````\n"},
		{"none", "# Page\n\n```go\nx\n```\n", "# Page\n\n```go\nx\n```\n"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := page(t, row.text)
			report, err := snippet.Check(t.Context(), r, repository.Options{Write: true})
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("problems %q, %v", report.Problems, err)
			}
			if got := read(t, r); got != row.want {
				t.Errorf("the page is\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const block = "\n```\n```\n"
	for _, row := range []struct{ reason, text, want string }{
		{"no such file", "<!-- file: dag/none.go -->" + block, "1: dag/none.go: there is no such file"},
		{"outside of the repository", "<!-- file: ../x -->" + block, "1: ../x: want a path"},
		{"no such name", "<!-- file: dag/main.go#three -->" + block, "1: dag/main.go: no region and no declaration has the name three"},
		{"no such region", "<!-- file: dag/config.yaml#three -->" + block, "1: dag/config.yaml: no region and no declaration has the name three"},
		{"a region twice", "<!-- file: dag/twice.txt#a -->" + block, "1: dag/twice.txt: region a: it begins twice"},
		{"a region without end", "<!-- file: dag/twice.txt#b -->" + block, "1: dag/twice.txt: region b: it has no end"},
		{"a file that is no Go", "<!-- file: dag/broken.go#x -->" + block, "1: dag/broken.go: 1:9: "},
		{"no block follows", "# Page\n<!-- file: dag/main.go -->\ntext\n", "2: no fenced block follows"},
		{"the page ends", "<!-- file: dag/main.go -->", "1: no fenced block follows"},
		{"a block without end", "<!-- file: dag/main.go -->\n```\n", "2: the fenced block has no end"},
		{"a text that closes the block", "<!-- file: dag/fence.txt -->" + block, "1: dag/fence.txt holds a line that closes the block"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r := page(t, row.text)
			for _, write := range []bool{false, true} {
				report, err := snippet.Check(t.Context(), r, repository.Options{Write: write})
				if err != nil || len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0], "guide/page.md:"+row.want) {
					t.Errorf("write %v: problems %q, %v; want %q", write, report.Problems, err, row.want)
				}
			}
			if read(t, r) != row.text {
				t.Error("the page was changed")
			}
		})
	}
}
