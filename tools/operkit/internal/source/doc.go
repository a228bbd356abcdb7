// Package source reads the Go files of an operator and adds lines to them: a component to a controller's Setup, a
// controller to the program.
//
// A line is added by its place in the syntax tree and as text, so that nothing else of the file changes. A file in
// which that place isn't where it was written at first is left as it is, and the caller says what to add.
package source
