// Package port reserves TCP ports on loopback for servers that are started later.
//
// A reserved port stays reserved while the server that uses it is down, so a server that is restarted
// gets the same port back. The server must listen with SO_REUSEPORT (--permit-port-sharing for
// Kubernetes' servers) and run as the same user.
package port
