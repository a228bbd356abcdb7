// Package release says which release of its program an operator is, so that it can be seen what a new one makes of the
// objects of an older one. All operators have the same releases.
package release
