// Package process runs other programs so that nothing of them stays behind: each gets a process group of its own, and
// the end of the context ends the whole group. A signal to the go command alone would leave its compilers and tests.
// Where the system has no process groups only the program itself is ended.
package process
