// Package unixsocket listens on and connects to unix sockets in directories of any length.
//
// The kernel takes socket paths of at most 107 bytes. On Linux a longer path is reached through the open directory's
// entry in /proc/self/fd. So no second directory with a shorter path is needed, which a killed process would leave
// behind. On other systems a path that is too long is an error.
package unixsocket
