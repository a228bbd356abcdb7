// Package licence finds the licences of the modules that importers of released modules compile, and compares them with
// the list of allowed licences in house.go.
//
// A licence is known by the text of the files in the root of a module. An unknown text is a problem: a person has to
// read it.
package licence
