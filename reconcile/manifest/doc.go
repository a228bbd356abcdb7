// Package manifest writes what components are rendered to, for people to read: as a stream of YAML documents, or
// into files below a directory.
//
//	directory, err := manifest.Open("/var/lib/shop-operator/rendered")
//	defer directory.Close()
//	reconciler, err := reconcile.New(Shop{}, manager, reconcile.Observe(directory.Observe))
//
// From then on the latest rendering of each resource is there, one file for a component
// (spec: reconcile 17):
//
//	<directory>/<group>.<version>.<kind>/<namespace>/<name>/<component>/<name>-<component>.k8s.yaml
//
// A resource of the cluster has no folder of a namespace. Components that are disabled stand below
// <name>/DISABLED/, when Disabled asks for them. Characters that mean something in a path are written as %2F and
// the like, and very long names are cut and end in a hash, so that no name leads out of the directory or
// into another one's place.
//
// # Secrets
//
// The values of Secrets are masked unless ShowSecrets asks for them: keys stay, and each value is the same text,
// whatever its length. A masked Secret is still one that an API server takes, so be careful what you apply: the mask
// would be the password. Values that stand anywhere else, in the environment of a container, say, aren't masked.
//
// # Files
//
// A file is replaced as a whole or not at all, and only if its content is another one. It has the mode 0600, its
// folders 0700. Files of components that a resource has no more are removed; files that
// this package didn't write stay.
//
// # When to use it
//
// Use it to find out what an operator does, and to compare releases. Don't use it as a backup: what the cluster
// adds, and what is in a Secret, isn't there.
package manifest
