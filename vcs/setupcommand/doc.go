// Package setupcommand has the command setup-vcs, which makes a git repository of single versions from a repository
// with a history. It runs vcs.Setup for people and scripts.
//
//	root.AddCommand(setupcommand.New())
//
// # When to use it
//
// Use it to add the command to your own program. If you need only the command, use the program tools/setup-vcs. From
// Go, call vcs.Setup, which doesn't need cobra.
package setupcommand
