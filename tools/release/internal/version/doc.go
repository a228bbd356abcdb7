// Package version computes the next version of a module from what has changed.
package version
