package docs

import (
	"fmt"
	"go/ast"
	"go/doc"
	"strings"
)

// shown is what the examples of a package show.
type shown struct {
	names    map[string]bool
	problems []string
}

// examples reads those of the package with the given path. test may be nil.
func examples(path string, test *testPackage) shown {
	if test == nil {
		return shown{}
	}
	u := newUses(path, test)
	all := shown{names: u.names}
	bodies := map[string]*ast.FuncDecl{}
	for _, f := range test.files {
		for _, d := range f.Decls {
			if function, is := d.(*ast.FuncDecl); is && function.Recv == nil {
				bodies[function.Name.Name] = function
			}
		}
	}
	for _, example := range doc.Examples(test.files...) {
		name := "Example" + example.Name
		if example.Output == "" && !example.EmptyOutput {
			all.problems = append(all.problems, name+": it has no line 'Output:' and never runs")
			continue
		}
		all.names[exampleOf(name)] = true
		u.walk(bodies[name])
	}
	return all
}

// missing lists the entry points of a package that its examples don't show.
func (s shown) missing(entryPoints []identifier) []string {
	var problems []string
	for _, entry := range entryPoints {
		if !s.names[entry.name] {
			problems = append(problems, fmt.Sprintf("%s: %s: no Example with output is named for it or uses it", entry.place, entry.name))
		}
	}
	return problems
}

// inside lists the examples in the tests of the package itself, where they can show what an importer can't do.
func (s source) inside() []string {
	var problems []string
	for _, f := range s.tests {
		if strings.HasSuffix(f.Name.Name, "_test") {
			continue
		}
		for _, example := range doc.Examples(f.File) {
			problems = append(problems, fmt.Sprintf("%s: Example%s belongs in package %s_test, where importers are", f.name, example.Name, s.name))
		}
	}
	return problems
}
