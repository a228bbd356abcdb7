// Package cluster is a Kubernetes API server as package deploy sees it: requests through
// a Port, reads through a View.
//
// The View is one store: the informers of the kinds that somebody subscribed to, overlaid
// with what this process has just written and the informers haven't shown yet. A read is
// therefore never older than our own writes, and costs no call once a kind is watched. A
// kind that nobody watches is read live.
//
// Use it wherever there is an API server. For tests and renderings without one there is
// deploy/dryrun.
package cluster
