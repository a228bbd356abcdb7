// Package e2e tests the built program: it links no Kubernetes code and talks to the program the way
// users do, by its command line and with HTTP.
//
// $OPERKIT_DEVCLUSTER_BINARY names the program. Without the variable it is built into the user's cache directory, with
// the flags of build.env.
package e2e
