// Package process runs other programs and ends all their processes: each program gets a process group of its own, and
// the end of the context ends the whole group, grandchildren included.
//
// That matters for the go command, which starts compilers and test binaries: a signal to it alone leaves these running.
// Where the system has no process groups only the program itself is ended.
package process
