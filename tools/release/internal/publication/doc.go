// Package publication computes the released modules of a repository as they are published, each after those that it
// requires, since their requirements name its version and checksums.
//
// The same code fills a module proxy for tests and prepares the commit that is tagged, so what was verified is exactly
// what is tagged.
package publication
