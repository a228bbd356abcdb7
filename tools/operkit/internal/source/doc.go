// Package source reads the Go files of an operator and adds lines to them: a component to a controller's Setup, a
// controller to the program.
//
// A line is inserted as text at a place in the syntax tree, so that nothing else of the file changes. If that place is
// no longer where it was when the file was first written, the file stays as it is, and the caller prints what to add.
package source
