// Package e2e tests the built program: it links no Kubernetes code and talks to the program the way
// users do, by its command line and with HTTP.
//
// The program is the file that $OPERKIT_DEVCLUSTER_BINARY names; without the variable it is built,
// with the flags of build.env, into the user's cache directory.
package e2e
