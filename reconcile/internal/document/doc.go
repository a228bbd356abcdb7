// Package document reads YAML text that people write: its documents, each with the line it begins in, and the
// objects in them.
//
// Use it wherever YAML of objects is read. Code that reads or writes a single value doesn't need it.
package document
