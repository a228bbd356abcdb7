// Package setupcommand has the command setup-vcs. From a git repository with a history, the command makes one without:
// each tag or branch that is kept becomes one commit with the same files. It runs vcs.Setup for people and scripts.
//
//	root.AddCommand(setupcommand.New())
//
// # When to use it
//
// Use it to add the command to your own program. If you need only the command, use the program tools/setup-vcs. From
// Go, call vcs.Setup, which doesn't need cobra.
package setupcommand
