// Package tagging carries out a plan in a repository: two commits and a tag for each module, and nothing that is half
// done.
//
// The first commit is the next one of the branch and gives the changelogs their sections. The second one is its child
// and is on no branch: in it the go.mod and go.sum of the modules are as they are published. All tags name it. Objects
// are written before any reference is; then the branch and all tags change in one transaction. An interruption before
// that changes nothing.
package tagging
