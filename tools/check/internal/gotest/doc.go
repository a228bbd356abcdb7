// Package gotest runs the tests of modules through `go test -json`, prints the part of the output that a person needs,
// and counts how the tests ended.
//
// Every test, subtest, example and fuzz seed counts once for each time it ran, parents and children alike. If it began
// and didn't end (the process exited, a timeout), it counts as failed. A package that failed without a failed test
// counts as one failure: for example it doesn't build, it panicked or leaked outside of a test, or its TestMain exited
// with an error. A module in which the go command itself failed counts as one failure, too.
//
// A skipped test is a failure of the run, because it proves nothing.
package gotest
