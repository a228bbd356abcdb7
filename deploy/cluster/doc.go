// Package cluster implements deploy.Cluster for a Kubernetes API server: requests through a Port, reads through a View.
//
// The View combines the informers of the kinds with a subscription and the writes of this process that the informers
// don't show yet. So a read is never older than our own writes, and costs no request once a kind is watched. A kind
// that isn't watched is read from the API server. So is an object whose state only the API server knows: after a write
// of its scale, or a write through another version of its kind. To wait for a write of somebody else, use the View's
// [Observer].
//
// When a watch breaks, it is resumed where it ended, or the kind is listed anew, with a growing delay of 250 ms to 5 s.
// The differences arrive as events. Until then an object that the informer has is read from it, and one that it lacks
// from the API server.
//
// Kinds are found by discovery. The API server is asked again whenever a kind is unknown, or isn't served any more
// where it was: definitions may come, go and change while a program runs. deploy.KindView waits for a kind by a watch
// of the definitions, or by polling where that watch isn't allowed. Namespaces may come and go too, see [Namespaces].
//
// Equal parts of objects, as one template renders them, are stored once. [MetadataOnly] saves more memory for kinds
// whose content nobody reads. With [Selected] the API server sends only some objects of a kind.
//
// Each request is sent once. It returns an object or a typed error: a *deploy.UnavailableError if no API server
// responded in time, a *deploy.TimeoutError if the caller's context reached its deadline, and the context's error if it
// was cancelled.
//
// Use it wherever there is an API server. For tests and renderings without one there is deploy/dryrun.
package cluster
