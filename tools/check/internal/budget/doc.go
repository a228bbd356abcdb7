// Package budget checks what modules promise their importers: how many other modules an importer compiles, and which
// modules are required for which reason.
//
// The promises of a module are in a file budget.txt at its root:
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
// compiled. The other lines name the direct requirements of go.mod, each with its reason. Requirements that only tests
// use follow the line 'tests:'. A # starts a comment.
package budget
