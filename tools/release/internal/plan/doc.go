// Package plan decides which modules of a repository get new versions, which versions these are, and why. It changes
// nothing.
package plan
