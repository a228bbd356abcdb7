// Package workdir is the directory that one cluster lives in: where each file is, who holds it, and
// how it is emptied for a new start.
//
// The holder has a lock on a file in it, inherited by the processes it starts, so that the directory
// counts as taken until the last of them is gone. A directory with someone else's files in it is
// refused, never emptied.
package workdir
