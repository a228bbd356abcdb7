// Package operkit tests the program operkit as somebody meets it who has nothing of this repository: the working tree's
// modules are in a module proxy, the program is installed from there, and what it has written is built, tested and run
// on a real control plane.
package operkit
