// Package publishing gives tests the view of a user without this repository: an environment in which the go command
// gets the modules of this working tree as if they were released, and the program operkit.
//
// Use it for tests that compile operators outside of the repository. Their packages are compiled only once, however
// many tests run at the same time.
package publishing
