// Package licence names the licences of the modules that the importers of released modules compile, and holds them
// against the list of those that a program may be made of without asking anybody: house.go.
//
// A licence is known by the text of the files in the root of a module. A text that is not that of a known licence is a
// problem: it takes a person to read it.
package licence
