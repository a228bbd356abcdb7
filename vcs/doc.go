// Package vcs checks versions of a git repository out, safely and fast, without the git program.
//
//	repository, err := vcs.Open("/srv/versions")
//	checkout, err := repository.Checkout(ctx, "1.2.3", "/var/cache/versions/1.2.3", vcs.Worktree)
//
// A checkout is there as a whole or not at all, whoever is killed in the middle of it, and however many goroutines and processes ask for
// the same one. Nothing is written into the repository. What is in it may have been made by somebody who means harm: nothing outside
// of the destination is ever touched.
//
// # When to use it
//
// Use it where a program needs files as they were at a tag: templates, manifests, schemas of several releases side by side. Don't use it
// to commit, to merge, or to fetch: that is go-git's, on which it is built.
package vcs
