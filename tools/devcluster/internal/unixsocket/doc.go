// Package unixsocket listens on and connects to unix sockets in directories of any length.
//
// The kernel takes socket paths of at most 107 bytes. On Linux a longer one is reached through the
// open directory's entry in /proc/self/fd, so no second, shorter directory is needed, and none is
// left behind by a process that was killed. Elsewhere a path that is too long is an error.
package unixsocket
