// Package budget checks modules against what they promise their importers: how many other modules these compile, and
// which modules are required, each with its reason.
//
// A module promises it in a file budget.txt at its root:
//
//	# what a program that imports the graph compiles with it
//	modules 2
//	never k8s.io
//
//	golang.org/x/sync: errgroup runs the workers
//
//	tests:
//	github.com/stretchr/testify: assertions
//
// A line 'modules' is needed. A line 'never' names a module, or the beginning of modules' paths, that must not be
// compiled. The other lines name the direct requirements of go.mod, each with why it is there; those that only tests
// use follow the line 'tests:'. What follows a # is a comment.
package budget
