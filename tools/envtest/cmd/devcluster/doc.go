// Command devcluster makes sure that the devcluster program is on this machine, building it when it isn't, and then
// becomes it, with all its arguments and its standard streams:
//
//	go run github.com/operkit/operkit/tools/envtest/cmd/devcluster kubectl get nodes
//
// One command is its own: `devcluster build` only makes sure of the program, and prints its path. Which program that
// is, and which environment variable names another one, is told at devcluster.Binary.
package main
