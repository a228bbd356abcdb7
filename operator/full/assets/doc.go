// Package assets implements reconcile.Assets by a git repository: a session gets the files of the version that its
// resource wants. A version is checked out once and read-only, for all resources; replicas and processes on one machine
// may share the destination.
//
//	files, err := assets.Open(ctx, assets.Options{Repository: "/versions", Destination: "/var/cache/versions/{version}"})
//	...
//	op.Control(Guestbook{}, reconcile.WithAssets(files))
//
// # When to use it
//
// In operators of package operator/full the settings vcs.repository and vcs.destination turn it on. Use this package
// for a repository per kind, or in another program. If files don't depend on a version, embed them instead.
package assets
