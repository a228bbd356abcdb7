// Package release selects the release of its program that an operator runs, to show what a new release does with the
// objects of an older one. All operators have the same releases.
package release
