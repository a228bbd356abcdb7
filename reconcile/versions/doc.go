// Package versions runs several versions of an operator side by side: each resource is rendered by the version that it
// names, and one manager deploys them all.
//
// A version is a program, <Directory>/<version>/<Entry>, as the release was built: an image carries several. The
// manager starts it as a child process, once for all resources of the version, and asks it what a resource consists of.
// The child renders and answers hooks, gates, readiness functions and predicates; it reads through the manager's store.
// Only the manager applies, verifies, prunes, writes the status and holds the finalizer, so that there is one cache,
// one field manager and one leader whatever versions run.
//
//	pool, err := versions.Start(ctx, versions.Options{Directory: "/versions", Entry: "guestbook"})
//	...
//	for _, controller := range pool.Controllers() {
//		op.Control(controller)
//	}
//
// The program serves by package child. A binary of package operator/full serves by its command serve-version, and is a
// manager when its setting versions.directory is set.
//
// # A resource and its version
//
// The version is that of reconcile.Session.Version: the field that reconcile.VersionField names, or
// reconcile.VersionOverride. When it changes, the resource is upgraded: objects of the old version that the new one
// doesn't render are pruned once all objects of the new one are deployed. A controller that is a reconcile.Upgrader may
// refuse the upgrade. One CustomResourceDefinition serves all versions, and a version ignores fields that it doesn't
// know. A resource that is being deleted is finalized by its version, and waits as long as that version doesn't run.
//
// # Processes
//
// All versions are started once by Start. A process is stopped when it is unused for a while (Options.Idle), or when
// others need its place (Options.Limit). A process that has ended is started again when it is needed, later each time
// if it ends at once. The reconcile under way is tried again and loses nothing: nothing is pruned before everything is
// deployed, and the status reports the failure only when it has come back several times (request.Passing). Processes
// that a version has started in its process group end with it. An unchanged resource costs one call of the child,
// without the content of any object: see PROTOCOL.md beside this file.
//
// # Sources
//
// The sources are those that all versions declared at the start; a version that comes later and declares more is
// refused until the operator is started again. For an event each version that watches its kind is asked. If a version
// doesn't run, or doesn't answer within two seconds, the event counts, and concerns every resource that the version has
// described. External sources run as long as the version does; it is started again for them when it has ended by
// itself.
//
// # Limits
//
// A Builder that is a Deployer, Verifier or Disabler is refused, and so are writes of a version through
// Session.Manager, except deletions. metadata.managedFields of the resource aren't sent. Attributes of log lines arrive
// as text. The condition Applied of a TemporaryPatch stays Unknown, since the patch is applied in another process. A
// call that a version doesn't answer ends with the reconcile.
//
// # When to use it
//
// Use it where resources are upgraded one by one, by those whom they belong to. If all resources follow the operator,
// have one version. If versions differ only in templates and manifests, give sessions the files of their version,
// without further processes: see reconcile.WithAssets, and operator/full/assets for a git repository of them.
package versions
