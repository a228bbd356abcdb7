// Package usercases has no code: its tests have an operator meet what users of other operators have reported, on a real
// control plane. An operator for trials, whose resources say themselves which objects they consist of, runs as a
// process of its own; a case applies one state of a resource after the other, and looks at what becomes of its objects.
package usercases
