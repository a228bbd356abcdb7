// Package publication computes the released modules of a repository as they are published. It computes each module
// after the modules that it requires, because its go.mod and go.sum contain the versions and checksums of those
// modules.
//
// The same code fills a module proxy for tests and prepares the commit that is tagged, so the files that are verified
// are exactly the files that are tagged.
package publication
