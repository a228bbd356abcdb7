// Package source reads the Go files of an operator and adds lines to them: a component to a controller's Setup, a
// controller to the program.
//
// A line is inserted as text at a place in the syntax tree, so that nothing else of the file changes. If the file was
// edited so that the place can't be found, the file isn't changed, and the caller prints what to add.
package source
