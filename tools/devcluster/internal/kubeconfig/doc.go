// Package kubeconfig writes the client configuration that kubectl and the Kubernetes libraries read.
//
// It writes one cluster and one user, all keys inline, so that the file works from anywhere on the
// machine. It does not read or merge configurations.
package kubeconfig
