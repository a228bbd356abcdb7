// Package state is the published state of a cluster: the contents of state.json and of the control socket's responses.
//
// The file is replaced as a whole at each change. Only the supervisor writes it; if the supervisor was killed, a
// component does.
package state
