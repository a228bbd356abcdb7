// Package usercases has no code: its tests reproduce problems that users of other operators have reported, on a real
// control plane. A test operator runs as a separate process; its resources list the objects that they consist of. A
// case applies several states of a resource, one after the other, and checks the objects after each.
package usercases
