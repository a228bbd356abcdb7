// Package vcs checks out versions of a git repository, safely and fast, without the git program.
//
//	repository, err := vcs.Open("/srv/versions")
//	checkout, err := repository.Checkout(ctx, "1.2.3", "/var/cache/versions/1.2.3", vcs.Worktree)
//
// A checkout appears complete or not at all, even if a process is killed. It is made once, however many goroutines and
// processes request it at the same time. Nothing is written into the repository. Even a hostile repository can't change
// anything outside the destination.
//
// # When to use it
//
// Use it in a program that needs the files of a tag, such as the templates, manifests or schemas of several releases
// side by side. To commit, merge or fetch, use go-git, on which this package is built.
package vcs
