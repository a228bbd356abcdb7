// Package plan says which modules of a repository are to be released, as which versions and why. It only reads.
package plan
