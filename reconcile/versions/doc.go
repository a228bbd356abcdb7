// Package versions runs several versions of an operator side by side: each resource is rendered by the version that it
// names, and one manager deploys them all.
//
// A version is the program of a release, <Directory>/<version>/<Entry>. An image contains several versions. The manager
// starts one child process for all resources of a version, and the child returns the components of a resource. The
// child also runs hooks, gates, readiness functions and predicates, and reads through the manager's store. Only the
// manager applies, verifies, prunes, writes the status and holds the finalizer. So there is one cache, one field
// manager and one leader, whatever versions run.
//
//	pool, err := versions.Start(ctx, versions.Options{Directory: "/versions", Entry: "guestbook"})
//	...
//	for _, controller := range pool.Controllers() {
//		op.Control(controller)
//	}
//
// The program serves the manager by package child. In a binary of package operator/full the command serve-version does
// that. The binary is a manager if its setting versions.directory is set.
//
// # A resource and its version
//
// The version of a resource is the result of reconcile.Session.Version: the value of the field that
// reconcile.VersionField names, or reconcile.VersionOverride. When the version changes, the resource is upgraded:
// objects of the old version that the new version doesn't render are pruned when all objects of the new version are
// deployed. A controller that is a reconcile.Upgrader may refuse the upgrade. One CustomResourceDefinition serves all
// versions, and a version ignores fields that it doesn't know. A resource that is being deleted is finalized by its
// version; while that version can't run, the deletion waits.
//
// # Processes
//
// Start starts each version once. A process is stopped when it is unused for a while (Options.Idle), or when another
// version needs its place (Options.Limit). A process that has ended is started again when it is needed, with backoff if
// it ended soon after its start. The reconciles that used the process are retried, and nothing is lost: nothing is
// pruned before everything is deployed, and the status reports the failure only after several repetitions
// (request.Passing). When the process of a version ends, all processes of its process group are killed. An unchanged
// resource costs one call of the child, without the content of any object: see PROTOCOL.md beside this file.
//
// # Sources
//
// The sources are those that all versions declared at the start. A version that is added later and declares more
// sources is refused until the operator is restarted. An event of a kind is passed to the predicates and mappings of
// the versions that watch this kind. If a version doesn't run, or doesn't answer within two seconds, the event counts.
// An event of a mapped kind then concerns every resource that the version has described. External sources run as long
// as the process of the version. If a process with external sources ends unexpectedly, it is started again for them.
//
// # Limits
//
// A Builder that is a Deployer, Verifier or Disabler is refused, and so are writes of a version through
// Session.Manager, except deletions. metadata.managedFields of the resource aren't sent. Attributes of log lines arrive
// as text. The condition Applied of a TemporaryPatch stays Unknown, since the patch is applied in another process. A
// call that a version doesn't answer is cancelled when the reconcile times out.
//
// # When to use it
//
// Use it where the owners of resources upgrade them independently. If all resources follow the operator, run one
// version. If versions differ only in templates and manifests, give sessions the files of their version, without
// further processes: see reconcile.WithAssets, and operator/full/assets if the files are in a git repository.
package versions
