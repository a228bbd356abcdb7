// Package vcs checks versions of a git repository out, safely and fast, without the git program.
//
//	repository, err := vcs.Open("/srv/versions")
//	checkout, err := repository.Checkout(ctx, "1.2.3", "/var/cache/versions/1.2.3", vcs.Worktree)
//
// A checkout appears complete or not at all, even if processes are killed, and is made once, however many goroutines
// and processes ask for it. Nothing is written into the repository. The repository may be hostile: nothing outside the
// destination is ever touched.
//
// # When to use it
//
// Use it where a program needs files as they were at a tag: templates, manifests or schemas of several releases side by
// side. To commit, merge or fetch, use go-git, on which this package is built.
package vcs
