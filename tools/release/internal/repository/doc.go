// Package repository finds the modules of a working tree, which of them are released, and what they require of each
// other. Nothing of that is listed anywhere: a module is one because it has a go.mod, and it is released because it has
// a CHANGELOG.md.
package repository
