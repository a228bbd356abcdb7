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
// The program serves by package child; a binary of package operator/full does so by its command serve-version, and is a manager by its setting
// versions.directory.
//
// # A resource and its version
//
// It is the one of reconcile.Session.Version: what the resource says in reconcile.VersionField, or reconcile.VersionOverride. Changed, the
// resource is an upgrade: objects of the old version that the new one doesn't render are pruned when all of the new one is deployed. A
// controller that is a reconcile.Upgrader may refuse the jump. One CustomResourceDefinition serves all versions: fields that one doesn't
// know are nothing to it. A resource that is being deleted is finalized by its version, and waits for it as long as there is none: nobody else
// knows what is to be done.
//
// # Processes
//
// All are started once when the Pool is, and stopped when they aren't used for a while (Options.Idle), or when others need their place
// (Options.Limit). One that has ended is started again when it is needed, later each time if it ends at once; what was under way is tried again
// and nothing is lost, as nothing is pruned before all is deployed, nor is anything told before it has come back several times
// (request.Passing). What a program has started in its process group ends with it. What is unchanged costs one call of the child and no
// content of an object: see PROTOCOL.md beside this file.
//
// # Sources
//
// They are those of all versions together, as they said at the start; a version that comes later and asks for more is refused until the
// operator is started again. What an event means each version is asked that looks at its kind. For one that doesn't run, or doesn't answer in
// two seconds, the event counts, and concerns every resource that the version has described: it is reconciled for nothing, but not forgotten.
// External sources run as long as the version does; it is started again for them when it has ended by itself.
//
// # Limits
//
// A Builder that is a Deployer, Verifier or Disabler is refused, and so are writes of a version through Session.Manager, save for deletions.
// metadata.managedFields of the resource aren't sent. Attributes of lines of the log come as text. Of a TemporaryPatch the condition
// Applied stays Unknown: the version applies it, and leaves word in its own process. A version that doesn't answer a call is waited for as
// long as the reconcile may take.
//
// # When to use it
//
// Use it where resources are upgraded one by one, by those they belong to. If all follow the operator, have one version. If versions differ
// in templates and manifests alone, give sessions the files of their version and save the processes: see reconcile.WithAssets, and
// operator/full/assets for a git repository of them.
package versions
