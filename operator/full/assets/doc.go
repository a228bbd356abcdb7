// Package assets gives sessions the files of the version that their resource wants, out of a git repository: reconcile.Assets by package
// vcs. A version is checked out once, read-only, whatever resources want it; all replicas and processes of a machine may share the
// destination.
//
//	files, err := assets.Open(ctx, assets.Options{Repository: "/versions", Destination: "/var/cache/versions/{version}"})
//	...
//	op.Control(Guestbook{}, reconcile.WithAssets(files))
//
// # When to use it
//
// An operator of package operator/full has it by its settings vcs.repository and vcs.destination. Use this package to choose by
// kind, or in a program of another make. For files that don't depend on a version embed them.
package assets
