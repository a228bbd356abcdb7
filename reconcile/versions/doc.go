// Package versions runs several versions of an operator side by side: each resource is described by the version that it wants, and all of
// them are deployed by one manager.
//
// A version is a program of its own, <Directory>/<version>/<Entry>, as the release was built: an image carries several. The manager starts it
// as a child process, once for all resources of the version, and asks it what a resource consists of. The child renders and answers hooks,
// gates, readiness functions and predicates; its reads go through the manager's store. The manager alone applies, judges, prunes, writes the
// status and holds the finalizer, so that there is one cache, one field manager and one leader whatever versions run.
//
//	pool, err := versions.Start(ctx, versions.Options{Directory: "/versions", Entry: "guestbook"})
//	...
//	for _, controller := range pool.Controllers() {
//		op.Control(controller)
//	}
//
// The program serves by package child; a binary of package operator/full does so by its command serve-version.
//
// # A resource and its version
//
// It is the one of reconcile.Session.Version: what the resource says in reconcile.VersionField, or reconcile.VersionOverride. Changed, the
// resource is an upgrade: objects of the old version that the new one doesn't render are pruned when all of the new one is deployed. A
// controller that is a reconcile.Upgrader may refuse the jump. One CustomResourceDefinition serves all versions: fields that one doesn't
// know are nothing to it.
//
// # Processes
//
// All are started once when the Pool is, and stopped when they aren't used for a while. One that has ended is started again when it is
// needed, later each time if it ends at once; what was under way is tried again and nothing is lost, as nothing is pruned before all is
// deployed. What is unchanged costs one call of the child and no content of an object: see PROTOCOL.md beside this file.
//
// # When to use it
//
// Use it where resources are upgraded one by one, by those they belong to. If all follow the operator, have one version. If versions differ
// in templates and manifests alone, give sessions the files of their version and save the processes: see package assets.
package versions
