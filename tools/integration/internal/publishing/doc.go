// Package publishing lets tests have what a stranger has: an environment in which the go command gets the modules of
// this working tree as if they were released, and the program operkit.
//
// Use it for tests that compile operators outside of the repository. What they are made of is compiled once, however
// many tests work at once.
package publishing
