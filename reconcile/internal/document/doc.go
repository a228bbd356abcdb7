// Package document reads YAML text that people write: its documents, each with the line it begins in, and the
// objects in them.
//
// Use it wherever YAML of objects comes in. What reads or writes a single value needs none of this.
package document
