// Package setupcommand is the command setup-vcs, which makes a git repository of single versions out of one with a
// history. It is vcs.Setup for people and scripts.
//
//	root.AddCommand(setupcommand.New())
//
// # When to use it
//
// Use it to add the command to your own program. For the command alone there is the program tools/setup-vcs. To call it
// from Go, use vcs.Setup, which doesn't need cobra.
package setupcommand
