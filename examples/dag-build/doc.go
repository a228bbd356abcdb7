// Command dag-build runs the commands of a small build file, in the order of their dependencies
// and in parallel. It shows what the module dag does without anything else of operkit.
package main
