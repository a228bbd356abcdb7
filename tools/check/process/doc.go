// Package process runs other programs and ends all their processes: each program gets a process group of its own, and
// the end of the context ends the whole group, grandchildren included.
//
// The go command needs this, because it starts compilers and test binaries, which continue to run after a signal to
// only the go command. On systems without process groups only the program itself is ended.
package process
