// Package publication computes the released modules of a repository as they are published, each after the modules that
// it requires, since its go.mod and go.sum contain their versions and checksums.
//
// The same code fills a module proxy for tests and prepares the commit that is tagged, so the files that are verified
// are exactly the files that are tagged.
package publication
