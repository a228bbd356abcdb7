// Package gotest runs the tests of modules through `go test -json`, prints what a person wants to see of them, and
// counts how they ended.
//
// What is counted: every test, subtest, example and fuzz seed that began counts once for each time it ran, parents and
// children alike. One that began and did not end (the process exited, a timeout) counts as failed. A package that
// failed without a failed test of its own (it does not build, it panicked or leaked outside of a test, its TestMain
// exited with an error) counts as one failure, and so does a module in which the go command itself failed.
//
// A skipped test is a failure of the run: what is not run is not known to work.
package gotest
