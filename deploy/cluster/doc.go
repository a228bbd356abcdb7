// Package cluster implements deploy.Cluster for a Kubernetes API server. Its Port sends requests, and its View serves
// reads.
//
// Subscribe starts informers of a kind. The View combines their state with the writes of this process that they don't
// show yet. So a read is never older than our own writes, and costs no request for a watched kind. A kind that isn't
// watched is read from the API server. After a write of an object's scale, or a write through another version of its
// kind, only the API server knows the object's state; then the object is read from there, too. To wait for a write of
// somebody else, use the View's [Observer].
//
// When a watch breaks, it is resumed where it ended, or the kind is listed again, with a growing delay of 250 ms to 5
// s. The differences arrive as events. Until then, Get returns objects of the informer, and reads objects that the
// informer doesn't have from the API server.
//
// Kinds are found by discovery. Discovery is repeated when a kind is unknown, or when its known resource isn't served
// any more, because CustomResourceDefinitions may come, go and change while a program runs. To wait for a kind
// (deploy.KindView), the View watches the definitions, or polls discovery if this watch isn't allowed. Namespaces may
// come and go, too, see [Namespaces].
//
// Objects that were rendered by the same template have equal parts. The View stores each of these parts once.
// [MetadataOnly] saves more memory for kinds whose content nobody reads. With [Selected] the API server sends only some
// objects of a kind, and an object that loses its label has left (deploy.Left).
//
// Each request is sent once. It returns an object or a typed error: a *deploy.UnavailableError if no API server
// responded in time, a *deploy.TimeoutError if the caller's context reached its deadline, and the context's error if it
// was cancelled.
//
// Use it wherever there is an API server. For tests and offline rendering without an API server, use deploy/dryrun.
package cluster
