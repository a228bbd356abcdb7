// Package plan decides which modules of a repository have to be released, as which versions and why. It changes
// nothing.
package plan
