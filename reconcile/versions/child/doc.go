// Package child is the side of a version of the operator that another process, the manager of package versions, lets render: Serve answers
// it with the very controllers that would reconcile by themselves otherwise.
//
//	err := child.Serve(ctx, []reconcile.Controller{Guestbook{}}, child.Release("1.1.0"))
//
// A session is one of package reconcile: Setup, Builders, patches, gates, readiness functions, hooks, Finalize and sources work as they do
// in one process, and reads go through the manager's store. But the manager alone deploys, judges readiness, prunes and writes the status.
// A Builder that is a Deployer, Verifier or Disabler is refused therefore, and what a method writes through Session.Manager is an error,
// save for deletions of what the resource owns.
//
// # When to use it
//
// A binary of package operator/full serves by itself when it is called as a child. Use this package for a program without that. The standard
// output is the manager's as long as Serve runs: what is printed goes to the standard error, which the manager logs.
package child
