// Command dag measures the module dag against what people use in its place: errgroup, a loop by
// hand, and a library of graphs. It prints a line for each goal and exits with 1 when one is
// missed.
package main
