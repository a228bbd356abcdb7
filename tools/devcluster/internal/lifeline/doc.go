// Package lifeline ends a child process when its parent is gone, however the parent ended.
//
// The parent keeps the writing end of a pipe and gives the reading end to its children; the kernel
// closes the writing end with the parent, and the children see the end of file. This works on every
// unix system and survives what Linux's parent death signal does not (a child that changed its
// credentials, a forking thread that ended early). The two are used together: see Signal.
package lifeline
