package hygiene

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// testName is the name of a function that the go command runs.
var testName = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)(?:$|[^a-z])`)

// TestNames gives a line for each test, benchmark, fuzz target and example whose name stands twice in one folder, once in
// the package and once in its external test package: what go test prints says nothing of which of them failed.
func TestNames(ctx context.Context, r *repository.Repository) ([]string, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var problems []string
	first := map[string]string{} // the file with a name, by its folder and the name
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") || strings.Contains("/"+file, "/testdata/") {
			continue
		}
		found, err := testNames(filepath.Join(r.Root, filepath.FromSlash(file)))
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: cannot be parsed: %v", file, err))
			continue
		}
		for _, name := range found {
			key := path.Dir(file) + " " + name
			if other, twice := first[key]; twice {
				problems = append(problems, fmt.Sprintf("%s: %s stands in %s too", file, name, path.Base(other)))
			}
			first[key] = file
		}
	}
	return problems, nil
}

// testNames lists the functions of a file that the go command runs.
func testNames(file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && testName.MatchString(f.Name.Name) && f.Name.Name != "TestMain" {
			found = append(found, f.Name.Name)
		}
	}
	return found, nil
}
