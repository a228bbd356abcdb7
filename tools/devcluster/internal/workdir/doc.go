// Package workdir manages the directory of one cluster: the paths of its files, its lock, and its cleanup before a new
// start.
//
// The lock is on a file in the directory, and the components inherit it, so that the directory stays locked until the
// last of them is gone. A directory with other files in it is refused, never emptied.
package workdir
