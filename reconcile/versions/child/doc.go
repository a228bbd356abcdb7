// Package child makes a program a version of an operator: the program renders for another process, the manager of
// package versions. Serve answers the manager's calls by the controllers of the program.
//
//	err := child.Serve(ctx, "1.1.0", []reconcile.Controller{Guestbook{}})
//
// A session is a reconcile.Session: Setup, Builders, patches, gates, readiness functions, hooks, Finalize and sources
// work as in a single process, and reads go through the manager's store. Only the manager deploys, verifies, prunes and
// writes the status. A Builder that is a Deployer, Verifier or Disabler is therefore refused, and a write through
// Session.Manager is an error, except the deletion of an object that the resource owns.
//
// # When to use it
//
// A binary of package operator/full doesn't need this package: its command serve-version calls Serve. Use this package
// for other programs. While Serve runs, the standard output belongs to the manager. Anything else that is printed goes
// to the standard error, which the manager logs.
package child
