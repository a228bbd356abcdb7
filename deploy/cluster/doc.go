// Package cluster is a Kubernetes API server as package deploy sees it: requests through a Port, reads through a View.
//
// The View is one store: the informers of the kinds that somebody subscribed to, overlaid with what this process has
// just written and the informers don't show yet. A read is therefore never older than our own writes, and costs no
// request once a kind is watched. A kind that nobody watches is read from the API server. So is an object whose state
// only the API server knows: after a write of its scale, or a write through another version of its kind. To wait for a
// write of somebody else, use the View's [Observer].
//
// Kinds are found by discovery. The API server is asked again whenever a kind is unknown, or nothing is served any more
// where a kind was: definitions may come, go and change while a program runs. deploy.KindView waits for a kind by a
// watch of the definitions, or by asking now and then where that watch isn't allowed. Namespaces may come and go too,
// see [Namespaces].
//
// Parts that objects have in common, because one template rendered them, are held once. [MetadataOnly] saves more for
// kinds whose content nobody reads, and with [Selected] the API server sends only some objects of a kind.
//
// Each request is sent once. Its result is an object or a typed error: a *deploy.UnavailableError if no API server
// answered in time, a *deploy.TimeoutError if the caller's context reached its deadline, and the context's error if it
// was cancelled.
//
// Use it wherever there is an API server. For tests and renderings without one there is deploy/dryrun.
package cluster
