// Package setupcommand is the command setup-vcs, which makes a git repository of single versions out of one with a history: what vcs.Setup does, for
// people and for scripts.
//
//	root.AddCommand(setupcommand.New())
//
// # When to use it
//
// Use it to give your own program the command. Whoever wants the command alone has it as a program: tools/setup-vcs. What calls from Go wants is
// vcs.Setup, which brings no cobra along.
package setupcommand
