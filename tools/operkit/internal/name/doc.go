// Package name checks the names of an operator, a kind and a component, and derives from them the names of files,
// folders, Go packages and types.
//
// An error contains the invalid name, what is wrong with it, and a valid name. If possible, the valid name is derived
// from the invalid name.
package name
