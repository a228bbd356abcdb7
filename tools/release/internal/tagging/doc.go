// Package tagging carries out a plan in a repository: it makes two commits, and a tag for each module, all or nothing.
//
// The first commit is on the branch and has the new sections of the changelogs. The second commit is a child of the
// first, on no branch, and has the published go.mod and go.sum of the modules. All tags point to the second commit.
// First all objects are written; then the branch and all tags change in one transaction. An interruption before that
// changes nothing.
package tagging
