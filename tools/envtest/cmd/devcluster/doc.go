// Command devcluster makes sure that the devcluster program is on this machine, building it when it isn't, and then
// becomes it, with all its arguments and its standard streams:
//
//	go run github.com/operkit/operkit/tools/envtest/cmd/devcluster kubectl get nodes
//
// It adds one command: `devcluster build` builds the program if it isn't cached, and prints its path. devcluster.Binary
// documents which program that is, and which environment variable names another one.
package main
