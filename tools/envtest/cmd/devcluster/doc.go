// Command devcluster builds the devcluster program if it isn't on this machine yet, and then executes it, with all
// arguments and the standard streams:
//
//	go run github.com/operkit/operkit/tools/envtest/cmd/devcluster kubectl get nodes
//
// It adds one command: `devcluster build` builds the program if it isn't cached, and prints its path. The documentation
// of devcluster.Binary describes which program is used, and the environment variable that selects another one.
package main
