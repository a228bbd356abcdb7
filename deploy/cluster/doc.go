// Package cluster is a Kubernetes API server as package deploy sees it: requests through
// a Port, reads through a View.
//
// The View is one store: the informers of the kinds that somebody subscribed to, overlaid
// with what this process has just written and the informers haven't shown yet. A read is
// therefore never older than our own writes, and costs no call once a kind is watched. A
// kind that nobody watches is read live, and so is an object while only the API server can
// know it: after a write of its scale, or through another version of its kind. Whoever must
// wait for somebody else's write asks the View's [Observer].
//
// Kinds are found by discovery, anew whenever one is unknown or nothing is served any more
// where one was: definitions may come, go and come back otherwise while a program runs. Whoever
// waits for one (deploy.KindView) is told by a watch of the definitions, or asks now and then where
// that isn't allowed. Namespaces may come and go too, see [Namespaces].
//
// What objects have in common, as those of one template do, is held once. [MetadataOnly] holds even
// less of kinds that nobody reads, and [Selected] has the API server leave out what nobody wants.
//
// A request is sent once and answered by an object or a typed error: what is no answer of an
// API server, or none in time, is a *deploy.UnavailableError; the end of the caller's own
// time a *deploy.TimeoutError, or the context's error if it was cancelled.
//
// Use it wherever there is an API server. For tests and renderings without one there is
// deploy/dryrun.
package cluster
