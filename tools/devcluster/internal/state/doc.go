// Package state is the published state of a cluster: the contents of state.json and of the control
// socket's answers.
//
// The file is rewritten at each change, always as a whole. Only the supervisor writes it, and its
// last child when the supervisor was killed.
package state
