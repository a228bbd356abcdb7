// Command dag measures the module dag against errgroup, a loop by hand, and a graph library. It prints a line for each
// goal and exits with 1 if a goal is missed.
package main
