// Command check runs the tests of all modules of the repository and the checks that keep the repository in order.
//
// It works from anywhere inside the repository, prints all problems and not only the first, and exits with 1 if there
// are any. Run it without arguments for the list of its commands; README.md describes them.
package main
