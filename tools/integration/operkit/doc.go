// Package operkit tests the program operkit as a user without this repository sees it. The modules of the working tree
// are in a module proxy, and the program is installed from there. The project that it writes is built, tested and run
// on a real control plane.
package operkit
