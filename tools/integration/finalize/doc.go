// Package finalize has no code: its tests have an operator roll components out in its Finalize on a real control plane,
// whose garbage collector and namespace controller get in the way.
package finalize
