// Package lifeline ends a child process when its parent has ended, for whatever reason.
//
// The parent keeps the writing end of a pipe and gives the reading end to its children; when the parent ends, the
// kernel closes the writing end, and the children read the end of the file. This works on every unix system. It also
// works where Linux's parent death signal doesn't: for a child that has changed its credentials, and after an early end
// of the thread that forked. Both are used together: see Signal.
package lifeline
