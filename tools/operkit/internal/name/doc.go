// Package name checks what a person calls an operator, a kind and a component, and derives from it what files, folders,
// Go packages and types are called.
//
// An error says which name it is about, what is wrong with it, and one that would be right: made of the given one where
// that works.
package name
